package pins

import (
	"path"
	"strconv"
	"strings"
)

// layerPaths returns the directories that an overlay's options name, the upper
// one first. mountinfo has them escaped twice: by its own octal escapes, and
// below those by the backslashes that were given at mount time before ":", ","
// and the backslash; "lowerdir+" and "datadir+" have no escapes of the second
// kind. Lower directories that containerd made relative lie beside the upper
// one; of any other relative path it is not known where it is from, and it is
// returned as it is. Source: Linux 6.18 fs/overlayfs/params.c; measured.
func layerPaths(options string) (all []string) {
	upper := ""
	var lower []string
	for option := range strings.SplitSeq(options, ",") {
		name, value, _ := strings.Cut(option, "=")
		value = octal(value)
		switch name {
		case "upperdir":
			upper = backslashes(value)
		case "lowerdir":
			lower = append(lower, splitLayers(value)...)
		case "lowerdir+", "datadir+":
			if value != "" {
				lower = append(lower, value)
			}
		}
	}
	if upper != "" {
		all = append(all, upper)
	}
	for _, l := range lower {
		if base, ok := snapshots(upper); ok && !path.IsAbs(l) {
			l = path.Join(base, l)
		}
		all = append(all, l)
	}
	return all
}

// snapshots is the directory of the snapshots that an upper directory is of:
// BASE/NUMBER/fs.
func snapshots(upper string) (string, bool) {
	number, ok := strings.CutSuffix(upper, "/fs")
	if !ok || !path.IsAbs(number) {
		return "", false
	}
	_, err := strconv.ParseUint(path.Base(number), 10, 64)
	return path.Dir(number), err == nil
}

// splitLayers splits at the colons that are not escaped. Two side by side begin
// the layers that hold data only.
func splitLayers(value string) (all []string) {
	begin := 0
	for i := 0; i <= len(value); i++ {
		switch {
		case i == len(value) || value[i] == ':':
			if i > begin {
				all = append(all, backslashes(value[begin:i]))
			}
			begin = i + 1
		case value[i] == '\\':
			i++
		}
	}
	return all
}

// octal undoes the escapes of procfs: a backslash and three octal digits.
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

// backslashes takes each backslash away that escapes a character.
func backslashes(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) {
			i++
		}
		b.WriteByte(value[i])
	}
	return b.String()
}
