package runtimeconf

import (
	"strconv"
	"strings"
)

// Release is a release of containerd. The zero value is one that is not known.
type Release struct{ Major, Minor int }

// anyMinor is the minor number of a release of which no more is known than the
// major one.
const anyMinor = -1

// ParseRelease reads a version such as "v2.4.2", "1.7.24~ds1-6+b4",
// "2.2.0-k3s1", or "1.x" where the minor number is not known. What is none gives
// the zero value.
func ParseRelease(version string) Release {
	major, rest, ok := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if !ok {
		return Release{}
	}
	if n := number(major); rest == "x" && n >= 1 {
		return Release{n, anyMinor}
	}
	minor := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	r := Release{number(major), number(minor)}
	if r.Major < 1 || r.Minor < 0 {
		return Release{}
	}
	return r
}

// number returns a small decimal number, or -1.
func number(s string) int {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

// Known reports whether the release is known.
func (r Release) Known() bool { return r != Release{} }

// String returns "2.4", or "2.x".
func (r Release) String() string {
	switch {
	case !r.Known():
		return "unknown"
	case r.Minor == anyMinor:
		return strconv.Itoa(r.Major) + ".x"
	}
	return strconv.Itoa(r.Major) + "." + strconv.Itoa(r.Minor)
}

// AtLeast reports whether a release is known to be the given one or a later one.
func (r Release) AtLeast(major, minor int) bool {
	return r.Known() && (r.Major > major || r.Major == major && max(r.Minor, 0) >= minor)
}

// Before reports whether a release is known to be earlier than the given one.
func (r Release) Before(major, minor int) bool {
	return r.Known() && (r.Major < major || r.Major == major && r.Minor != anyMinor && r.Minor < minor)
}

// one reports whether the release is known to be a 1.x, whose rules differ.
func (r Release) one() bool { return r.Major == 1 }

// newest is the highest version of a file that the release understands.
func (r Release) newest() int {
	switch {
	case r.one():
		return 2
	case r.Before(2, 4):
		return 3
	default:
		return 4
	}
}

// implied is the release that a version of the file needs at the least: what
// runs with such a file is no older.
func implied(version int) Release {
	switch {
	case version >= 4:
		return Release{2, 4}
	case version == 3:
		return Release{2, 0}
	default:
		return Release{}
	}
}
