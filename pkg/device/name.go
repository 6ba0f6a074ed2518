package device

import (
	"strconv"
	"strings"
)

// SplitName splits a device-mapper name as dmsetup splitname does: the parts
// are joined by single hyphens, and a hyphen inside a part is doubled. A last
// single hyphen belongs to its part. A name without a separator is a volume
// group only. What comes after a third separator is left out.
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
		case i+1 < len(dmName):
			parts = append(parts, "")
		default:
			*last += "-"
		}
	}
	parts = append(parts, "", "")
	return parts[0], parts[1], parts[2]
}

// Unmangle returns a device-mapper name as it was given, for showing it: libdm
// hands the kernel every byte outside 0-9 A-Z a-z # + - . : = @ _ as \xNN.
// Names are compared and split as the kernel has them.
func Unmangle(dmName string) string {
	if !strings.Contains(dmName, `\x`) {
		return dmName
	}
	var b strings.Builder
	for i := 0; i < len(dmName); i++ {
		if strings.HasPrefix(dmName[i:], `\x`) && i+4 <= len(dmName) {
			if n, err := strconv.ParseUint(dmName[i+2:i+4], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(dmName[i])
	}
	return b.String()
}
