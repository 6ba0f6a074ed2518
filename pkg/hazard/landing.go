package hazard

import (
	"path"

	"github.com/mountward/mountward/pkg/facts"
)

// link is a symbolic link that images customarily have. The runtime follows it
// when it makes a mount.
type link struct{ from, to string }

// customary are the links of the usual distributions' images. An image without
// /var/run gets a directory made there.
func customary() []link {
	return []link{
		{"/var/run", "/run"},
		{"/var/lock", "/run/lock"},
		{"/run/shm", "/dev/shm"},
		{"/bin", "/usr/bin"},
		{"/sbin", "/usr/sbin"},
		{"/lib", "/usr/lib"},
		{"/lib64", "/usr/lib64"},
	}
}

// landing returns where a mount at a clean destination lands, and the link it
// is led by; the zero link for none. A link leads to no other one here.
func landing(destination string, links []link) (string, link) {
	for _, l := range links {
		if rest, ok := facts.Below(destination, l.from); ok {
			return path.Join(l.to, rest), l
		}
	}
	return destination, link{}
}
