package volumes

import (
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

// overlayDir returns the value of an option of an overlay. Such a value escapes
// "," ":" and the backslash with a backslash (beneath mountinfo's own octal
// escapes, which the table has undone).
func overlayDir(options, name string) string {
	for _, option := range splitEscaped(options) {
		if value, ok := strings.CutPrefix(option, name+"="); ok {
			return unescape(value)
		}
	}
	return ""
}

func splitEscaped(options string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(options); i++ {
		switch options[i] {
		case '\\':
			i++
		case ',':
			parts = append(parts, options[start:i])
			start = i + 1
		}
	}
	return append(parts, options[start:])
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
