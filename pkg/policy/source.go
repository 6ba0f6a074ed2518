package policy

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// sourceSelector holds where the host path of a mount is in one of the globs.
//
// One directory has many names ("..", symbolic links, another mount of the
// same superblock), and a path can be exchanged between create and start. A
// source is therefore compared as it is spelled, as it is on the host, and by
// the superblock and root it leads to. Read leniently, any of the three is
// enough: a deny must not be slipped past by another name. Read strictly, the
// best that is known must match: an allow must not be won by a name.
type sourceSelector []*pathGlob

func (sourceSelector) key() string { return keySource }

func (s sourceSelector) match(q *query, strict bool) facts.Truth {
	result := facts.No
	for _, g := range s {
		bound := q.glob(g)
		one := facts.Unknown
		switch {
		case bound.missing != "":
		case strict:
			one = strictly(q, bound)
		default:
			one = leniently(q, bound)
		}
		switch one {
		case facts.Yes:
			return facts.Yes
		case facts.Unknown:
			result = facts.Unknown
		case facts.No:
		}
	}
	return result
}

func leniently(q *query, g *boundGlob) facts.Truth {
	switch {
	case g.spelled(q.given), g.spelled(q.canonical), g.leads(&q.identity):
		return facts.Yes
	case q.given == "" && q.canonical == "" && q.identity.IsZero():
		return facts.Unknown
	default:
		return facts.No
	}
}

func strictly(q *query, g *boundGlob) facts.Truth {
	named := g.spelled(q.canonical) || q.canonical == "" && g.spelled(q.given)
	switch {
	case g.leads(&q.identity):
		return facts.Yes
	case q.moved && named && (!q.resolved || !g.known):
		return facts.Unknown // the name fits, and nothing shows where it leads
	case q.moved:
		return facts.No
	case named:
		return facts.Yes
	case q.given == "" && q.canonical == "":
		return facts.Unknown
	default:
		return facts.No
	}
}

func (s sourceSelector) why(q *query, strict bool) string {
	text := missing(q, s)
	switch {
	case q.given == "" && q.canonical == "":
		text += "the source is not an absolute path and was not resolved"
	default:
		text += fmt.Sprintf("it is %q", q.given)
	}
	if q.canonical != "" && q.canonical != q.given {
		text += fmt.Sprintf(", on the host %q", q.canonical)
	}
	if q.moved && strict {
		text += fmt.Sprintf(", but %q of %s is mounted", q.identity.Root, q.identity.Device)
	}
	return text + ", wants " + orPaths(s)
}
