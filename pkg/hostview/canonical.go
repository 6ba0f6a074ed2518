package hostview

import "context"

// Canonical returns an absolute path of the host without symbolic links, as the
// kernel walks it. It waits no longer than Options.Wait. The error is a
// *CannotTell; one matching fs.ErrNotExist says that the path leads nowhere.
func (v *View) Canonical(ctx context.Context, path string) (string, error) {
	if err := v.walkable(path); err != nil {
		return "", err
	}
	f, straight, err := v.walker.open(ctx, path)
	if err != nil {
		return "", walkFailed(path, err)
	}
	defer closeReference(f)
	return v.canonical(path, f, straight)
}
