package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

const meta = `*?[]{}\`

// literal reports whether a glob stands for itself alone.
func literal(glob string) bool { return !strings.ContainsAny(glob, meta) }

// nameWider reports whether one glob for names matches all that another does.
func nameWider(wide, narrow string) bool {
	if literal(narrow) {
		return policy.MatchName(wide, narrow)
	}
	start, star := strings.CutSuffix(wide, "*")
	head := narrow[:strings.IndexAny(narrow, meta)]
	return star && literal(start) && strings.HasPrefix(head, start)
}

// pathWider reports whether one glob for paths matches all that another does.
// Where spelling does not tell where a path leads, both must start at the same
// literal part.
func pathWider(wide, narrow string, spelling bool) bool {
	if !knownWith(wide, narrow) {
		return false
	}
	widePrefix, wideRest := policy.SplitPath(wide)
	prefix, rest := policy.SplitPath(narrow)
	if widePrefix == prefix {
		one := rest != "" && !strings.ContainsAny(rest, `/[\$`) && rest != "**"
		return wideRest == rest || wideRest == "**" || wideRest == "*" && one
	}
	below, ok := facts.Below(prefix, widePrefix)
	switch {
	case !spelling || !ok:
		return false
	case wideRest == "**":
		return true
	default:
		return rest == "" && !strings.Contains(wideRest+below, "${") && policy.MatchBelow(wideRest, below)
	}
}

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// knownWith reports whether the variables of both globs are the same ones: else
// one could be known and the other not.
func knownWith(a, b string) bool {
	set := func(glob string) []string {
		all := variable.FindAllString(glob, -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	return slices.Equal(set(a), set(b))
}
