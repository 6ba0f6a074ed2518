//go:build linux

package guest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// lvRow is one volume as "lvs --all" has it.
type lvRow struct {
	VG      string `json:"vg_name"`
	LV      string `json:"lv_name"` // "[name]" for a hidden one
	UUID    string `json:"lv_uuid"`
	Major   string `json:"lv_kernel_major"`
	Minor   string `json:"lv_kernel_minor"`
	Devices string `json:"devices"` // "name(extent),...": hidden volumes or device nodes
}

func (r lvRow) name() string   { return r.VG + "/" + strings.Trim(r.LV, "[]") }
func (r lvRow) number() string { return r.Major + ":" + r.Minor }

// lvs compares the volumes and their parts with what lvs says.
func (s *stack) lvs(st storage) []string {
	s.Helper()
	var report struct{ Report []struct{ LV []lvRow } }
	text := s.do("lvs", "--all", "--reportformat", "json", "-o", "vg_name,lv_name,lv_uuid,lv_kernel_major,lv_kernel_minor,devices")
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		s.Fatalf("lvs: %v", err)
	}
	byNumber, byName := make(map[string]lvRow), make(map[string]lvRow)
	for _, r := range report.Report {
		for _, row := range r.LV {
			byNumber[row.number()], byName[row.name()] = row, row
		}
	}
	var all []string
	for _, l := range st.Layers {
		if l.LV == nil {
			continue
		}
		row, ok := byNumber[l.Device]
		if !ok {
			all = append(all, "lvs is silent about "+s.label(&l))
			continue
		}
		if row.name() != l.LV.String() || row.UUID != l.LV.UUID {
			all = append(all, fmt.Sprintf("lvs calls %s %s with the id %s, not %s with %s", s.label(&l), row.name(), row.UUID, l.LV, l.LV.UUID))
		}
		var lower []string
		for name := range strings.SplitSeq(row.Devices, ",") {
			if name, _, _ = strings.Cut(name, "("); strings.HasPrefix(name, "/") {
				lower = append(lower, number(s.T, name))
			} else if below := byName[row.VG+"/"+name]; below.Major == "-1" { // a pool has no device of its own
				lower = append(lower, below.name())
			} else if name != "" {
				lower = append(lower, below.number())
			}
		}
		all = append(all, s.edges("lvs", st, &l, lower)...)
	}
	return all
}
