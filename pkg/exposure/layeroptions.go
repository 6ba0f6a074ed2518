package exposure

import (
	"strconv"
	"strings"
)

// splitLayers splits at the colons that no backslash stands before. Two side by
// side begin the layers that hold data only. Source: Linux 6.18
// fs/overlayfs/params.c.
func splitLayers(value string) []string {
	var all []string
	begin := 0
	for i := 0; i <= len(value); i++ {
		switch {
		case i < len(value) && value[i] == '\\':
			i++
		case i == len(value) || value[i] == ':':
			if i > begin {
				all = append(all, unescape(value[begin:i]))
			}
			begin = i + 1
		}
	}
	if begin < len(value) { // a backslash ends it
		all = append(all, unescape(value[begin:]))
	}
	return all
}

// octal undoes the escapes of mountinfo: a backslash and three octal digits.
func octal(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+4 <= len(value) {
			if n, err := strconv.ParseUint(value[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// unescape undoes the escapes of mount time: a backslash before any byte.
func unescape(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) {
			i++
		}
		b.WriteByte(value[i])
	}
	return b.String()
}
