package hostview

import (
	"context"
	"io/fs"
	"os"
)

// Stat returns the mode and the owner of what a path of the host leads to,
// symbolic links followed. The file itself is not opened. The error is a
// *CannotTell; one matching fs.ErrNotExist says that the path leads nowhere.
func (v *View) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	return ask(ctx, v, path, func(_ *helper, f *os.File) (fs.FileInfo, error) { return f.Stat() })
}
