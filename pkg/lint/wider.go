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

// start returns the text before the first meta character of a glob.
func start(glob string) string {
	if i := strings.IndexAny(glob, meta); i >= 0 {
		return glob[:i]
	}
	return glob
}

// nameWider reports whether one glob for names matches all that another does.
func nameWider(wide, narrow string) bool {
	if fixed := start(wide); !strings.HasPrefix(narrow, fixed) {
		return false // nearly always, and cheaper than what follows
	}
	if literal(narrow) {
		return policy.MatchName(wide, narrow)
	}
	fixed, star := strings.CutSuffix(wide, "*")
	return star && literal(fixed) && strings.HasPrefix(start(narrow), fixed)
}

// pathWider reports whether one glob for paths matches all that another does.
// Where spelling does not tell where a path leads, both must start at the same
// literal part.
func (how reading) pathWider(wide, narrow string, spelling bool) bool {
	if !knownWith(wide, narrow) {
		return false
	}
	widePrefix, wideRest := how.split(wide)
	prefix, rest := how.split(narrow)
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
	if !strings.Contains(a, "${") && !strings.Contains(b, "${") {
		return true
	}
	set := func(glob string) []string {
		all := variable.FindAllString(glob, -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	return slices.Equal(set(a), set(b))
}
