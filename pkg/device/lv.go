package device

import (
	"cmp"
	"strings"
)

// LogicalVolume is an LVM logical volume.
type LogicalVolume struct {
	VG     string `json:"vg"`
	LV     string `json:"lv"`
	UUID   string `json:"uuid"` // of the logical volume, as lvs prints it
	VGUUID string `json:"vg_uuid"`
}

// String returns VG/LV.
func (l LogicalVolume) String() string { return l.VG + "/" + l.LV }

// The uuid LVM gives a device: "LVM-", the 32 characters of the volume group's,
// the 32 of the logical volume's, and for hidden layers "-" and a suffix.
// Source: lvm2 lib/activate/dev_manager.c build_dm_uuid.
const (
	uuidPrefix = "LVM-"
	uuidLength = 32
)

// logicalVolume returns the volume a device-mapper device is, and nil for one
// that LVM did not make. part is empty for the volume that the device is named
// for, and tells which hidden part of one it is otherwise: "tpool", "real",
// "cow", "tdata", "rimage", ...
func logicalVolume(dmName, dmUUID string) (volume *LogicalVolume, part string) {
	id, ok := strings.CutPrefix(dmUUID, uuidPrefix)
	if !ok || len(id) < 2*uuidLength {
		return nil, ""
	}
	id, suffix := id[:2*uuidLength], id[2*uuidLength:]
	vg, lv, layer := SplitName(dmName)
	if vg == "" || lv == "" || suffix != "" && suffix[0] != '-' || strings.Contains(id, "-") {
		return nil, ""
	}
	part = cmp.Or(layer, reserved(lv), strings.TrimPrefix(suffix, "-"))
	return &LogicalVolume{VG: vg, LV: lv, UUID: formatUUID(id[uuidLength:]), VGUUID: formatUUID(id[:uuidLength])}, part
}

// reserved returns what part of a volume it is that LVM keeps a name for, ""
// for a name that is free. Before lvm2 2.02.106 their uuids had no suffix. Of
// parts of parts, such as lv_rimage_0_iorig, it is the last.
func reserved(lv string) string {
	if n, ok := strings.CutPrefix(lv, "pvmove"); ok && n != "" && strings.Trim(n, "0123456789") == "" {
		return "pvmove"
	}
	found, last := "", -1
	for _, part := range []string{
		"rimage", "rmeta", "tdata", "tmeta", "cdata", "cmeta", "corig", "cvol", "cpool", "wcorig",
		"mimage", "mlog", "vdata", "imeta", "iorig", "vorigin", "pmspare",
	} {
		if at := strings.LastIndex(lv, "_"+part); at > last {
			found, last = part, at
		}
	}
	return found
}

// formatUUID writes 32 characters as LVM does: 6-4-4-4-4-4-6.
func formatUUID(id string) string {
	var groups []string
	for _, n := range []int{6, 4, 4, 4, 4, 4, 6} {
		groups = append(groups, id[:n])
		id = id[n:]
	}
	return strings.Join(groups, "-")
}
