package volumes

import (
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Stored is what the backing says of logical volumes, as a policy asks for it:
// of the file system itself, not of what is mounted below.
func (b Backing) Stored() facts.Storage {
	all := b.LVs
	if len(all) == 0 && b.LV != "" {
		all = []string{b.LV}
	}
	s := facts.Storage{Known: true}
	for _, text := range all {
		if lv, ok := facts.ParseLogicalVolume(text); ok {
			s.LVs = append(s.LVs, lv)
		}
	}
	switch why, unknown := strings.CutPrefix(b.NoLV, cannotTell); {
	case len(s.LVs) > 0:
	case unknown:
		s = facts.Storage{Why: why}
	case b.NoLV == "":
		s = facts.Storage{Why: "the map does not say"}
	default:
		s.Why = b.NoLV
	}
	return s
}
