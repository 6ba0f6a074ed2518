package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// globs reports globs that can match nothing, or one of whose alternatives can.
func (l *linter) globs(r *rule) {
	for _, k := range slices.Concat(r.Match, r.Except) {
		if k.Of != "" {
			if why := labelWrong(k.Of); why != "" {
				l.report(facts.LintGlob, r, k.At, "%s: %s", k.Path(), why)
			}
		}
		for i, glob := range k.Values {
			if why := l.globWrong(k, glob); why != "" {
				l.report(facts.LintGlob, r, k.Place(i), "%s %q: %s", k.Name, glob, why)
			}
		}
	}
}

func (l *linter) globWrong(k policy.Key, glob string) string {
	for _, one := range alternatives(glob) {
		why := ""
		switch {
		case k.Name == keySource || k.Name == keyDestination:
			why = pathWrong(k.Name, one)
		case slices.Contains([]string{keyNamespace, "pod", "container", "runtime_handler", keyLabels, "volume.name", "lvm.vg", "lvm.lv"}, k.Name):
			why = nameWrong(k.Name, one)
		case k.Name == keyImage:
			why = imageWrong(one)
		}
		if why == "" {
			continue
		}
		if one != glob {
			return fmt.Sprintf("its alternative %q %s", one, why)
		}
		return "it " + why
	}
	return ""
}

var glued = regexp.MustCompile(`\$\{[a-z_]+\}[A-Za-z0-9_.]`)

// pathWrong tells why no mount's path is in a glob without braces. Paths are
// cleaned before they are compared.
func pathWrong(key, glob string) string {
	components := strings.Split(strings.TrimSuffix(glob, "/"), "/")
	for i, c := range components {
		switch {
		case strings.Contains(c, "\x00"):
			return "matches nothing: no path has a NUL"
		case c == "..":
			return `matches nothing: paths are compared without ".."; write the path it leads to`
		case strings.Trim(c, " \t") != c:
			return "has a space at the end of a name; take it out"
		case i > 1 && c == "kubernetes.io" && components[i-1] == "volumes":
			return `matches nothing: in a pod's directory the kubelet writes the plugin's name with a tilde; write kubernetes.io~csi for kubernetes.io/csi`
		}
	}
	if at := glued.FindString(glob); at != "" {
		name := at[:len(at)-1]
		return fmt.Sprintf("lacks a slash after %s; write %q", name, strings.Replace(glob, name, name+"/", 1))
	}
	if n := len(components); key == keySource && n > 2 && components[n-2] == "kubernetes.io~csi" && components[n-3] == "volumes" {
		return fmt.Sprintf("matches the directory of a CSI volume, which no container mounts; write %s/mount", strings.TrimSuffix(glob, "/"))
	}
	return ""
}

// names are what Kubernetes allows in a name, and LVM: lvm(8).
func nameRule(key string) (set *regexp.Regexp, most int, what string) {
	switch key {
	case keyLabels:
		return labelSet, 63, "a label's value in Kubernetes has letters, digits, \"-\", \"_\" and \".\""
	case "pod", "volume.name":
		return podSet, 253, fmt.Sprintf("a %s's name in Kubernetes has small letters, digits, \"-\" and \".\"", strings.TrimSuffix(key, ".name"))
	case "lvm.vg", "lvm.lv":
		return lvmSet, 127, "a name of LVM has letters, digits, \"+\", \"-\", \"_\" and \".\""
	default:
		return nameSet, 63, fmt.Sprintf("a %s's name in Kubernetes has small letters, digits and \"-\"", strings.ReplaceAll(key, "_", " "))
	}
}

var (
	nameSet  = regexp.MustCompile(`^[a-z0-9-]*$`)
	podSet   = regexp.MustCompile(`^[a-z0-9.-]*$`)
	labelSet = regexp.MustCompile(`^[A-Za-z0-9._-]*$`)
	lvmSet   = regexp.MustCompile(`^[A-Za-z0-9+._-]*$`)
)

// nameWrong tells why no name of Kubernetes or LVM is in a glob without braces.
func nameWrong(key, glob string) string {
	if strings.ContainsAny(glob, `[]{}\`) {
		return "" // not looked into
	}
	set, most, what := nameRule(key)
	plain := strings.NewReplacer("*", "", "?", "").Replace(glob)
	switch lower := strings.ToLower(glob); {
	case set.MatchString(plain) && len(plain) <= most:
		return ""
	case len(plain) > most:
		return fmt.Sprintf("matches nothing: it is longer than %d bytes, the most that such a name has", most)
	case set.MatchString(strings.ToLower(plain)):
		return fmt.Sprintf("matches nothing: %s; write %q", what, lower)
	case strings.Contains(plain, "/") && key == "pod":
		return "matches nothing: a pod's name does not hold its namespace; write namespace = [...] beside it"
	case strings.Contains(plain, "/") && strings.HasPrefix(key, "lvm."):
		return "matches nothing: a volume group and a logical volume in it are two names; write lvm = { vg = [...], lv = [...] }"
	default:
		return "matches nothing: " + what
	}
}

// labelWrong tells why no pod has a label or annotation of that name.
func labelWrong(label string) string {
	if strings.ContainsAny(label, meta) {
		return "the name of a label is no glob, only its value is; write each label by its name"
	}
	prefix, rest, ok := strings.Cut(label, "/")
	if !ok {
		prefix, rest = "", label
	}
	if !podSet.MatchString(prefix) || !labelSet.MatchString(rest) || rest == "" || len(rest) > 63 {
		return "no pod has a label of that name: Kubernetes allows letters, digits, \"-\", \"_\" and \".\", and before a slash the name of a domain"
	}
	return ""
}
