package volumes

import (
	"strconv"
	"strings"
)

// rootfs reads where the task writes from its own "/" mount. For an overlay
// that is the upper directory, whose device is another than the overlay's.
func (s Sources) rootfs(path string) Rootfs {
	r := Rootfs{Path: path}
	root, ok := s.Container.At("/")
	if !ok {
		r.NoLV = "cannot tell: the container's table has no root"
		return r
	}
	r.FSType = root.FSType
	if root.FSType != "overlay" {
		r.Backing = s.backing(root.Device, root.FSType)
		return r
	}
	r.Device = root.Device
	r.Upper, r.Work = overlayDir(root.SuperOptions, "upperdir"), overlayDir(root.SuperOptions, "workdir")
	if r.Upper == "" {
		r.NoLV = "an overlay without an upper directory: nothing is written"
		return r
	}
	upper, err := s.Host(r.Upper)
	if err != nil {
		r.NoLV = "cannot tell: " + err.Error()
		return r
	}
	r.Backing = s.backing(upper.Device, upper.FSType)
	return r
}

// overlayDir returns the value of an option of an overlay. mountinfo has it
// escaped twice: by its own octal escapes, which the options keep so that they
// can be split at their commas, and below those by the backslashes that were
// given at mount time before ":", "," and the backslash. Source: Linux 6.18
// fs/overlayfs/params.c; measured.
func overlayDir(options, name string) string {
	for option := range strings.SplitSeq(options, ",") {
		if value, ok := strings.CutPrefix(option, name+"="); ok {
			return unescape(octal(value))
		}
	}
	return ""
}

// octal undoes the escapes of mountinfo: a backslash and three octal digits.
func octal(value string) string {
	if !strings.Contains(value, `\`) {
		return value
	}
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

func unescape(value string) string {
	if !strings.Contains(value, `\`) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) {
			i++
		}
		b.WriteByte(value[i])
	}
	return b.String()
}
