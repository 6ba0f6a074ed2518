package volumes

import (
	"context"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/overlay"
)

// UpperHost is what is asked about the upper directory of an overlay, of the
// mount namespace that has the overlay. *hostview.View is one.
type UpperHost interface {
	Lookup(ctx context.Context, path string) (facts.HostMount, error)
	Statfs(ctx context.Context, path string) (hostview.Statfs, error)
	Btrfs(ctx context.Context, path string) (hostview.Btrfs, error)
	Handle(ctx context.Context, path string) (hostview.Handle, error)
}

// Upper is the upper directory of an overlay: by its name, which can lead
// elsewhere by now, and by what the overlay itself tells of it.
type Upper struct {
	Name string          // as the overlay's options have it
	At   facts.HostMount // what the name leads to now; zero where it leads nowhere
	// Verified answers whether that is the overlay's upper directory.
	Verified facts.Answer
	// ByHandle says that file handles tell the answer. A yes without them rests
	// on equal sizes, which another volume can have as well.
	ByHandle bool
	// UUID is of the file system that the upper directory is on, by the handle of
	// the overlay's root; zero where the kernel tells none (before Linux 6.6, or
	// the file system has none).
	UUID [16]byte
}

// FindUpper finds the upper directory of an overlay: what its name leads to, and
// whether that is it. path is where the host has the overlay mounted, "" where
// that is not known. It waits for no file system longer than the host does, and
// asks none that may not answer.
func FindUpper(ctx context.Context, host UpperHost, e hostview.Entry, path string) Upper {
	u := Upper{Name: overlay.Parse(e.SuperOptions).Upper}
	if u.Name == "" {
		u.Verified = facts.CannotTell("the overlay's options name no upper directory")
		return u
	}
	var err error
	if u.At, err = host.Lookup(ctx, u.Name); err != nil {
		u.Verified = facts.CannotTell(because(err))
	} else {
		u.Verified = u.verify(ctx, host, e.Device, path)
	}
	if u.UUID == ([16]byte{}) && path != "" {
		u.UUID = upperUUID(ctx, host, e.Device, path)
	}
	return u
}

// upperUUID asks the overlay alone, for a name that leads elsewhere.
func upperUUID(ctx context.Context, host UpperHost, device facts.DeviceNumber, path string) (uuid [16]byte) {
	here, err := host.Lookup(ctx, path)
	if err != nil || here.Device != device {
		return uuid
	}
	root := rootOf(here, path)
	if root == "" {
		return uuid
	}
	over, err := host.Handle(ctx, root)
	if err != nil {
		return uuid
	}
	if is, err := over.Real(); err == nil && is.Upper {
		uuid = is.UUID
	}
	return uuid
}

// once is the host of a map, which looks each path up once.
type once struct {
	Host
	m *mapper
}

func (o once) Lookup(ctx context.Context, path string) (facts.HostMount, error) {
	return o.m.look(ctx, path)
}
