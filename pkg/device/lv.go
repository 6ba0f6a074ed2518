package device

import "strings"

// LogicalVolume is an LVM logical volume.
type LogicalVolume struct {
	VG, LV string
	UUID   string // of the logical volume, as lvs prints it
	VGUUID string
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
// that is none or is a hidden part of one (-tpool, -real, -cow, _tdata, ...).
func logicalVolume(dmName, dmUUID string) *LogicalVolume {
	id, ok := strings.CutPrefix(dmUUID, uuidPrefix)
	if !ok || len(id) != 2*uuidLength {
		return nil
	}
	vg, lv, layer := SplitName(dmName)
	if vg == "" || lv == "" || layer != "" || reserved(lv) {
		return nil
	}
	return &LogicalVolume{VG: vg, LV: lv, UUID: formatUUID(id[uuidLength:]), VGUUID: formatUUID(id[:uuidLength])}
}

// reserved reports a name that LVM keeps for the parts of a volume. Before lvm2
// 2.02.106 their uuids had no suffix.
func reserved(lv string) bool {
	if n, ok := strings.CutPrefix(lv, "pvmove"); ok && n != "" && strings.Trim(n, "0123456789") == "" {
		return true
	}
	for _, part := range []string{
		"_rimage", "_rmeta", "_tdata", "_tmeta", "_cdata", "_cmeta", "_corig", "_cvol", "_cpool", "_wcorig",
		"_mimage", "_mlog", "_vdata", "_imeta", "_iorig", "_vorigin", "_pmspare",
	} {
		if strings.Contains(lv, part) {
			return true
		}
	}
	return false
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

// SplitName splits a device-mapper name as dmsetup splitname does: the parts
// are joined by single hyphens, and a hyphen inside a part is doubled. A last
// single hyphen belongs to its part. A name without a separator is a volume
// group only.
func SplitName(dmName string) (vg, lv, layer string) {
	parts := []string{""}
	for i := 0; i < len(dmName); i++ {
		last := &parts[len(parts)-1]
		switch {
		case dmName[i] != '-':
			*last += dmName[i : i+1]
		case i+1 < len(dmName) && dmName[i+1] == '-':
			*last += "-"
			i++
		case i+1 < len(dmName) && len(parts) < 3:
			parts = append(parts, "")
		default:
			*last += "-"
		}
	}
	parts = append(parts, "", "")
	return parts[0], parts[1], parts[2]
}
