package hostview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// ErrNoHandle matches the error of Handle where the kernel or the file system
// has none to give.
var ErrNoHandle = linux.ErrNotSupported

// Handle is by what a file system tells one file from all others that it has or
// had: mostly the inode and its generation. Another file system can have the
// same: certainly one that was copied block by block, as a snapshot is, and one
// that counts generations instead of drawing them by lot.
type Handle struct {
	Type  int32 // what Bytes are; each file system has its own
	Bytes []byte
}

// Equal reports that both are the same.
func (h Handle) Equal(other Handle) bool {
	return h.Type == other.Type && bytes.Equal(h.Bytes, other.Bytes)
}

// Handle asks the file system that a path of the host is on for the handle of
// what the path leads to. Requires at least Linux 6.5, of an overlay 6.6; else
// the error matches ErrNoHandle.
func (v *View) Handle(ctx context.Context, path string) (Handle, error) {
	return ask(ctx, v, path, func(_ *helper, f *os.File) (Handle, error) {
		kind, text, err := linux.FileHandle(f)
		return Handle{Type: kind, Bytes: text}, err
	})
}

// Real is the handle of the directory that an overlay keeps a file in.
type Real struct {
	Handle
	Upper bool     // it is in the upper directory, or is that itself
	UUID  [16]byte // of the file system that it is on; zero for none
}

// The handle of an overlay's file: struct ovl_fh of fs/overlayfs/overlayfs.h.
// Measured on Linux 6.18 over tmpfs, ext4, xfs and btrfs, with and without
// nfs_export, index and uuid=off.
const (
	overlayType    = 0xf8
	overlayPadding = 3 // so that the fields below are in these places
	overlayVersion = 3
	overlayMagic   = 4
	overlayLength  = 5 // of all but the padding
	overlayFlags   = 6
	overlayInner   = 7 // the type of the handle within
	overlayUUID    = 8
	overlayFID     = 24

	overlayUpperFlag = 4
)

var errNoOverlay = errors.New("not the handle of an overlay's file")

// Real takes the handle of an overlay's file apart. That of the overlay's root
// is of its upper directory where it has one.
func (h Handle) Real() (Real, error) {
	b := h.Bytes
	switch {
	case h.Type != overlayType:
		return Real{}, fmt.Errorf("%w: type %#x", errNoOverlay, h.Type)
	case len(b) <= overlayFID, b[overlayVersion] != 0, b[overlayMagic] != 0xfb, int(b[overlayLength]) != len(b)-overlayPadding:
		return Real{}, fmt.Errorf("%w: %x", errNoOverlay, b)
	}
	return Real{
		Handle: Handle{Type: int32(b[overlayInner]), Bytes: b[overlayFID:]},
		Upper:  b[overlayFlags]&overlayUpperFlag != 0,
		UUID:   [16]byte(b[overlayUUID:overlayFID]),
	}, nil
}
