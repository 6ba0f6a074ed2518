// Package overlay reads the options of overlays: the directories that they are
// made of, which no mount table shows as mounts.
package overlay

import (
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/internal/mangle"
)

// Layers are the directories of an overlay as its options name them: as paths of
// the mount namespace that made it, which can lead elsewhere by now.
type Layers struct {
	Upper, Work string
	Lower       []string // the topmost first
}

// Parse reads the options of an overlay. mountinfo has them escaped
// twice: by its own octal escapes, which the options keep so that they can be
// split at their commas, and below those by the backslashes that were given at
// mount time before ":", "," and the backslash. "lowerdir+" and "datadir+" name
// one layer each and have no escapes of the second kind. Source: Linux 6.18
// fs/overlayfs/params.c; measured.
func Parse(options string) Layers {
	var l Layers
	for option := range strings.SplitSeq(options, ",") {
		name, value, _ := strings.Cut(option, "=")
		switch name {
		case "upperdir":
			l.Upper = unescape(mangle.Unescape(value))
		case "workdir":
			l.Work = unescape(mangle.Unescape(value))
		case "lowerdir":
			l.Lower = append(l.Lower, splitLayers(mangle.Unescape(value))...)
		case "lowerdir+", "datadir+":
			l.Lower = append(l.Lower, mangle.Unescape(value))
		}
	}
	return l
}

// splitLayers splits at the colons that are not escaped. Two side by side begin
// the layers that hold data only.
func splitLayers(value string) []string {
	var all []string
	begin := 0
	add := func(end int) {
		if end > begin {
			all = append(all, unescape(value[begin:end]))
		}
		begin = end + 1
	}
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case ':':
			add(i)
		}
	}
	add(len(value))
	return all
}

// Rebase returns the absolute path of a lower directory. containerd makes those
// of many layers relative to the directory of its snapshots, as NUMBER/fs; what
// any other relative path is meant from is not known.
func (l Layers) Rebase(lower string) (string, bool) {
	if path.IsAbs(lower) {
		return lower, true
	}
	number, isFS := strings.CutSuffix(l.Upper, "/fs")
	if !isFS || !path.IsAbs(number) || !digits(path.Base(number)) {
		return "", false
	}
	base := path.Dir(number)
	number, isFS = strings.CutSuffix(lower, "/fs")
	return path.Join(base, lower), isFS && digits(number)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// unescape takes each backslash away that escapes a byte.
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
