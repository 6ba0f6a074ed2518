package learn

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/policy"
)

// maxListed bounds what the comment at the top lists of what is not known.
const maxListed = 200

// render writes the policy.
func render(s Seen, rules []rule, b *book, unknown []facts.Unread) []byte {
	var t strings.Builder
	fmt.Fprintf(&t, "# Learned from %s: %s of %s.\n", comment(s.From), words.Count(len(b.containers), "container"), words.Count(len(b.seen), "workload"))
	t.WriteString(`#
# It allows every mount the propagation that was seen of its source in the same
# container of the same workload, or less, and would deny all that asks for more.
# Workloads are told by namespace and by the names of their pods without what
# controllers generate. Whoever makes a pod in a namespace chooses its name: read
# each rule as what anybody in that namespace may do. A "*" in the place of a pod's
# uid stands for the volumes of its successors, and for those of any other pod.
#
# Nothing is refused while mode = "audit". Look for what would be, then enforce:
#
#   mountward check --strict policy.toml
#   mountward test policy_test.toml --coverage
#   mountward diff /etc/mountward/policy.toml policy.toml
`)
	if s.Changed > 0 {
		fmt.Fprintf(&t, "#\n# Given another propagation than asked for, by a rule with action = \"set\": %s.\n# What was asked for is allowed here; keep that rule, above these.\n", words.Count(s.Changed, "mount"))
	}
	if len(unknown) > 0 {
		fmt.Fprintf(&t, "#\n# NOT COMPLETE. What follows could not be learned, and is not allowed by this\n# policy unless a rule happens to:\n#\n")
		for _, u := range unknown[:min(len(unknown), maxListed)] {
			fmt.Fprintf(&t, "#   %s: %s\n", comment(u.What), comment(u.Why))
		}
		if more := len(unknown) - maxListed; more > 0 {
			fmt.Fprintf(&t, "#   and %d more\n", more)
		}
	}
	fmt.Fprintf(&t, `
version = 1
mode    = "audit"
default = "deny"

# What lets nothing through after the start, whatever the source: also what the
# kubelet, the runtime and images make for every container.
[[rule]]
name   = %q
reason = "nothing that is mounted later travels, in either direction"
match.propagation = ["private", "unbindable"]
action = "allow"
`, privateName)
	var of workload
	for _, r := range rules {
		if r.of != of {
			of = r.of
			fmt.Fprintf(&t, "\n# %s\n", comment(of.String()))
		}
		r.write(&t)
	}
	return []byte(t.String())
}

func (r rule) write(t *strings.Builder) {
	fmt.Fprintf(t, "[[rule]]\nname = %s\n", quote(r.name))
	if r.strange {
		fmt.Fprintf(t, "lint_ignore = [%q]   # Kubernetes makes no such name, and yet it was seen\n", facts.LintGlob)
	}
	list(t, "match.namespace  ", []string{policy.Literal(r.of.namespace)})
	list(t, "match.pod        ", []string{r.of.pods})
	list(t, "match.container  ", r.containers)
	list(t, "match.source     ", r.sources)
	list(t, "match.propagation", r.kinds.words())
	if len(r.except) > 0 {
		list(t, "except.pod       ", r.except)
	}
	t.WriteString("action = \"allow\"\n")
}

// list writes a list, an item a line where there are several long ones.
func list(t *strings.Builder, key string, items []string) {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = quote(item)
	}
	if line := strings.Join(quoted, ", "); len(line) < 80 || len(items) == 1 {
		fmt.Fprintf(t, "%s = [%s]\n", key, line)
		return
	}
	fmt.Fprintf(t, "%s = [\n  %s,\n]\n", key, strings.Join(quoted, ",\n  "))
}

// quote writes a basic string of TOML that shows on a terminal as what it is.
func quote(text string) string {
	var t strings.Builder
	t.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			t.WriteByte('\\')
			t.WriteRune(r)
		case unicode.IsPrint(r):
			t.WriteRune(r)
		default:
			fmt.Fprintf(&t, `\U%08X`, r)
		}
	}
	t.WriteByte('"')
	return t.String()
}

// comment is a text that stays in its line and is valid in a TOML comment.
func comment(text string) string {
	quoted := fmt.Sprintf("%q", text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
