package policytest

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// volume reads what a test says of a mount's volume: what its path does not show,
// and the daemon finds in the kubelet's directories.
func (p *parser) volume(at []any, raw *rawVolume) facts.Volume {
	if raw == nil {
		return facts.Volume{}
	}
	if *raw == (rawVolume{}) {
		p.fail(at, `"volume" is empty: write kind, name or driver`)
	}
	if raw.Kind != nil && !slices.Contains(facts.VolumeKinds(), *raw.Kind) {
		hint := ""
		if near := strict.Nearest(*raw.Kind, facts.VolumeKinds()); near != "" {
			hint = `, did you mean "` + near + `"?`
		}
		p.fail(append(at, "kind"), "unknown kind of volume %q%s", *raw.Kind, hint)
	}
	word := func(text *string) facts.Word {
		if text == nil {
			return facts.Word{}
		}
		return facts.Says(*text)
	}
	return facts.Volume{Kind: word(raw.Kind), Name: word(raw.Name), Driver: word(raw.Driver)}
}

// stored reads the logical volumes that a mount is on: nil where the test says
// nothing, which is so before the container runs.
func (p *parser) stored(at []any, lvs []string) *facts.Storage {
	if !p.document.Has(at...) {
		return nil
	}
	s := &facts.Storage{Known: true}
	for i, text := range lvs {
		lv, ok := facts.ParseLogicalVolume(text)
		if !ok {
			p.fail(append(slices.Clip(at), i), `"lv": want VG/LV, such as "vg0/pvc-1", not %q`, text)
		}
		s.LVs = append(s.LVs, lv)
	}
	return s
}

// told adds to what a path shows what the test says.
func told(shown, test facts.Volume) facts.Volume {
	word := func(shown, test facts.Word) facts.Word {
		if !shown.Known && test.Known {
			return test
		}
		return shown
	}
	return facts.Volume{
		Kind: word(shown.Kind, test.Kind), Name: word(shown.Name, test.Name), Driver: word(shown.Driver, test.Driver),
	}
}

// volume fails a test that says of a volume what its path shows to be otherwise:
// no container is like that.
func (c *comparison) volume(shown facts.Volume) {
	for _, w := range []struct {
		key        string
		told, have facts.Word
	}{
		{"volume.kind", c.told.Kind, shown.Kind},
		{"volume.name", c.told.Name, shown.Name},
		{"volume.driver", c.told.Driver, shown.Driver},
	} {
		if w.told.Known {
			c.same(w.key, w.told.Text, w.have.Text, "the source's path shows it: a volume is the pod's own where pod.uid, or for the runtime's pod.id, stands in it")
		}
	}
}
