//go:build linux

package guest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// block is a device as "lsblk --inverse" has it: on its children.
type block struct {
	Name     string
	Number   string `json:"maj:min"`
	Type     string
	Children []block
}

// types is what lsblk calls our kinds.
var types = map[string][]string{
	"lv": {"lvm"}, "lv-layer": {"lvm"}, "crypt": {"crypt"}, "multipath": {"mpath"}, "partition": {"part"},
	"loop": {"loop"}, "md": {"raid1"}, "disk": {"disk"},
}

// lsblk compares all devices with what lsblk says of the file system's own.
func (s *stack) lsblk(st storage) []string {
	s.Helper()
	var report struct{ BlockDevices []block }
	args := []string{"--json", "--inverse", "--output", "NAME,MAJ:MIN,TYPE"}
	for _, l := range st.Layers[:st.Tops] {
		args = append(args, "/dev/"+l.Name)
	}
	if err := json.Unmarshal([]byte(s.do("lsblk", args...)), &report); err != nil {
		s.Fatalf("lsblk: %v", err)
	}
	found := make(map[string]block)
	var collect func([]block)
	collect = func(all []block) {
		for _, b := range all {
			found[b.Number] = b
			collect(b.Children)
		}
	}
	collect(report.BlockDevices)
	var all []string
	above := st.aboveLoops()
	for _, l := range st.Layers {
		b, ok := found[l.Device]
		switch {
		case !above[l.Device]:
			continue
		case ok && l.Kind == "loop" && len(b.Children) == 0:
			all = append(all, "lsblk ends at "+s.label(&l))
			continue
		case !ok:
			all = append(all, "lsblk is silent about "+s.label(&l))
			continue
		}
		if !slices.Contains(types[l.Kind], b.Type) {
			all = append(all, fmt.Sprintf("lsblk calls %s %s, not %s", s.label(&l), b.Type, l.Kind))
		}
		if l.DMName != "" && b.Name != l.DMName {
			all = append(all, fmt.Sprintf("lsblk calls %s %s", s.label(&l), b.Name))
		}
		var lower []string
		for _, c := range b.Children {
			lower = append(lower, c.Number)
		}
		all = append(all, s.edges("lsblk", st, &l, lower)...)
	}
	return all
}

// aboveLoops is the devices that are met before a loop device is passed.
func (s storage) aboveLoops() map[string]bool {
	met := make(map[string]bool)
	var down func(numbers []string)
	down = func(numbers []string) {
		for _, n := range numbers {
			if l := s.layer(n); l != nil && !met[n] {
				met[n] = true
				if l.Kind != "loop" {
					down(l.Lower)
				}
			}
		}
	}
	for _, l := range s.Layers[:s.Tops] {
		down([]string{l.Device})
	}
	return met
}
