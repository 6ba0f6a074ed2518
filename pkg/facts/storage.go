package facts

import "strings"

// LogicalVolume names one of LVM.
type LogicalVolume struct {
	VG string `json:"vg"`
	LV string `json:"lv"`
}

// ParseLogicalVolume reads VG/LV, and returns false for anything else. Neither
// name can hold a slash. Source: lvm(8), VALID NAMES.
func ParseLogicalVolume(text string) (LogicalVolume, bool) {
	vg, lv, ok := strings.Cut(text, "/")
	return LogicalVolume{vg, lv}, ok && vg != "" && lv != "" && !strings.Contains(lv, "/")
}

// String returns VG/LV.
func (v LogicalVolume) String() string { return v.VG + "/" + v.LV }

// Storage is what the file system of a mount is stored on. It is looked up when
// the container runs, never before: a slow disk must not hold up a start.
type Storage struct {
	Known bool            `json:"known"`
	LVs   []LogicalVolume `json:"lvs,omitempty"` // known and empty: it is on none
	Why   string          `json:"why,omitempty"` // there is none, or it is not known
}
