//go:build linux

package guest

import (
	"encoding/json"
	"os"
	"strings"
)

// mountRow is a mount as findmnt has it.
type mountRow struct {
	Source string
	Number string `json:"maj:min"`
	FSType string
	FSRoot string
}

// findmnt compares the mount that covers a path with what findmnt says.
func (s *stack) findmnt(got target) []string {
	s.Helper()
	if got.Mount.Device == "" { // a device was asked for
		return nil
	}
	var report struct{ FileSystems []mountRow }
	text := s.do("findmnt", "--json", "--mountpoint", got.Mount.MountPoint, "--output", "SOURCE,MAJ:MIN,FSTYPE,FSROOT")
	if err := json.Unmarshal([]byte(text), &report); err != nil || len(report.FileSystems) == 0 {
		s.Fatalf("findmnt: %v in %s", err, text)
	}
	row := report.FileSystems[len(report.FileSystems)-1] // the topmost comes last
	m, top := got.Mount, got.Storage.Layers[:got.Storage.Tops]
	if row.FSType != m.FSType || row.FSRoot != m.Root || row.Number != m.Device {
		s.Errorf("findmnt says %+v of %s, and mountward %+v", row, m.MountPoint, m)
	}
	var all []string
	if strings.HasPrefix(row.Number, "0:") && len(top) > 0 {
		all = append(all, "findmnt's MAJ:MIN is no device")
	}
	source, inside, _ := strings.Cut(row.Source, "[")
	if inside != "" {
		all = append(all, "findmnt's SOURCE is no device node: it ends in ["+inside)
	}
	for _, l := range top {
		if _, err := os.Stat(source); err != nil {
			all = append(all, "findmnt's SOURCE "+source+" is not there")
		} else if number(s.T, source) != l.Device {
			all = append(all, "findmnt is silent about "+s.label(&l))
		}
	}
	return all
}
