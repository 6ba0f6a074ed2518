package hostview

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// mountKey is any number that tells living mounts apart: on the mountinfo rung
// it must be the one of the table.
func mountKey(f *os.File) (uint64, error) {
	id, err := linux.UniqueMountID(f)
	if errors.Is(err, linux.ErrNotSupported) {
		return tableKey(f)
	}
	return id, err
}

func tableKey(f *os.File) (uint64, error) {
	id, err := linux.MountID(f)
	return uint64(id), err
}

// findTypes lets the walker find the types of mounts by the rung in use.
func (v *View) findTypes() {
	if v.walker == nil {
		return
	}
	v.walker.typeOf = v.typeByStatmount
	if v.rung == RungMountinfo {
		v.walker.key, v.walker.typeOf = tableKey, v.typeByTable
	}
}

// typeByStatmount asks no file system.
func (v *View) typeByStatmount(mount uint64) mountType {
	m, err := linux.Statmount(mount, v.nsID)
	const needed = linux.HasSuperblock | linux.HasFSType
	if err != nil || m.Has&needed != needed {
		return mountType{}
	}
	return mountType{name: m.FSType, disk: m.Major != 0}
}

// typeByTable can have to wait for the reading of a long table. A reading that
// takes longer goes on, for the next question.
func (v *View) typeByTable(mount uint64) mountType {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	t, err := v.cache.get(ctx, told)
	if err != nil {
		return mountType{}
	}
	e, ok := t.ByID(int(mount))
	if !ok {
		return mountType{}
	}
	name, _, _ := strings.Cut(e.FSType, ".")
	return mountType{name: name, disk: e.Device.Major != 0}
}
