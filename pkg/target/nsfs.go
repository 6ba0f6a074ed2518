package target

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// namespace is a target by what nsfs calls it: "net:[4026532177]".
func namespace(name, ns string) Target {
	return Target{Name: name, Kind: KindNamespace, NS: ns, Superblocks: []Superblock{{FSType: "nsfs", Root: ns}}}
}

// link is a namespace by a link of procfs, /proc/PID/ns/net, which is read and
// not followed.
func (r *resolver) link(name string) (Target, bool, error) {
	rest, ok := facts.Below(path.Clean(name), "/proc")
	if !ok {
		return Target{}, false, nil
	}
	parts := strings.Split(rest, "/")
	if len(parts) < 3 || parts[len(parts)-2] != "ns" {
		return Target{}, false, nil
	}
	text, err := os.Readlink(filepath.Join(r.Proc, rest))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Target{}, true, fmt.Errorf("%w: %w", ErrNone, err)
	case err != nil:
		return Target{}, true, err
	case !strings.Contains(text, ":["):
		return Target{}, false, nil
	}
	return namespace(name, text), true, nil
}
