package vap

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// YAML writes both objects as kubectl reads them, with a comment at the top on
// what became of the rules.
func (e *Exported) YAML() []byte {
	y := &yaml{}
	for _, line := range e.comment() {
		y.line("%s", strings.TrimRight("# "+line, " "))
	}
	y.head(e.Policy.APIVersion, e.Policy.Kind, e.Policy.Metadata)
	spec := e.Policy.Spec
	y.line("spec:")
	y.line("  failurePolicy: %s # what cannot be evaluated here is judged on the node", spec.FailurePolicy)
	y.line("  matchConstraints:")
	y.line("    resourceRules:")
	for _, r := range spec.MatchConstraints.ResourceRules {
		y.line("    - apiGroups: %s", flow(r.APIGroups))
		y.line("      apiVersions: %s", flow(r.APIVersions))
		y.line("      operations: %s", flow(r.Operations))
		y.line("      resources: %s", flow(r.Resources))
	}
	y.variables("matchConditions", spec.MatchConditions)
	y.variables("variables", spec.Variables)
	y.line("  validations:")
	for _, v := range spec.Validations {
		y.expression("  - ", "expression", v.Expression)
		y.line("    message: %s", scalar(v.Message))
		y.expression("    ", "messageExpression", v.MessageExpression)
		y.line("    reason: %s", v.Reason)
	}
	y.line("---")
	y.head(e.Binding.APIVersion, e.Binding.Kind, e.Binding.Metadata)
	y.line("spec:")
	y.line("  policyName: %s", scalar(e.Binding.Spec.PolicyName))
	y.line("  validationActions: %s", flow(e.Binding.Spec.ValidationActions))
	return y.Bytes()
}

// comment is the top of the file.
func (e *Exported) comment() []string {
	all := []string{
		"Written by \"mountward export vap\" from " + visible(e.From) + ".",
		"Change the policy and write this again rather than change it here.",
		"",
		"The node judges every mount by the whole policy. This stands before it and",
		"refuses nothing that the node would let through. A hostPath is judged as it is",
		"written: one that reaches an allowed directory through a symbolic link is refused",
		"here. A template is judged as if nothing changed the pods that are made from it.",
		"",
		"What became of the rules:",
	}
	for _, r := range e.Rules {
		all = append(all, "  "+r.String())
	}
	return append(all, e.Notes...)
}

// Told returns what is not carried as it stands, a line each.
func (e *Exported) Told() []string {
	var all []string
	for _, r := range e.Rules {
		if r.How != Carried {
			all = append(all, r.String())
		}
	}
	return append(all, e.Notes...)
}

// String tells what became of the rule, in one line.
func (r Rule) String() string {
	line := fmt.Sprintf("%s: %s %s (%s)", r.How, r.Action, visible(r.Name), visible(r.Position))
	if r.Why != "" {
		line += ": " + visible(r.Why)
	}
	return line
}

type yaml struct{ bytes.Buffer }

func (y *yaml) line(format string, args ...any) { fmt.Fprintf(y, format+"\n", args...) }

func (y *yaml) head(apiVersion, kind string, m Metadata) {
	y.line("apiVersion: %s", apiVersion)
	y.line("kind: %s", kind)
	y.line("metadata:")
	y.line("  name: %s", scalar(m.Name))
	if len(m.Annotations) > 0 {
		y.line("  annotations:")
	}
	for key, value := range m.Annotations {
		y.line("    %s: %s", key, scalar(value))
	}
}

func (y *yaml) variables(key string, all []Variable) {
	y.line("  %s:", key)
	for _, v := range all {
		y.line("  - name: %s", v.Name)
		y.expression("    ", "expression", v.Expression)
	}
}

// expression writes a block, which may hold anything that an expression does:
// printable ASCII and line ends.
func (y *yaml) expression(indent, key, text string) {
	y.line("%s%s: |-", indent, key)
	below := strings.Repeat(" ", len(indent)+2)
	for line := range strings.SplitSeq(text, "\n") {
		y.line("%s%s", below, line)
	}
}

// flow writes a list of words in one line.
func flow(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = scalar(word)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// scalar writes a text in double quotes. All escapes that strconv writes for
// valid UTF-8 are escapes of YAML too.
func scalar(text string) string { return strconv.Quote(strings.ToValidUTF8(text, "\uFFFD")) }

// visible is a text for a line of comment, in which nothing can end the line.
func visible(text string) string {
	quoted := scalar(text)
	if inside := quoted[1 : len(quoted)-1]; inside == text {
		return text
	}
	return quoted
}
