package apply

import (
	"errors"
	"os"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// do is the thread's part: clone on the host's side, then go over, make sure to
// be where the proof was made, and change one mount after the other.
func (w *work) do(t *linux.Traveller, steps []*step) error {
	home, err := t.Namespace()
	if err != nil {
		return err
	}
	trees := make([]*os.File, len(steps))
	defer func() {
		for _, tree := range trees {
			if tree != nil {
				_ = tree.Close() // where it was attached, the mount stays
			}
		}
	}()
	host := home
	if slices.ContainsFunc(steps, func(s *step) bool { return s.file != nil }) {
		if err := w.Host.Enter(t); err != nil {
			return err
		}
		if host, err = t.Namespace(); err != nil {
			return err
		}
		for i, s := range steps {
			if s.file == nil {
				continue
			}
			if trees[i], err = clone(s); err != nil {
				w.failed(s, err)
			}
		}
	}
	if err := w.Process.Enter(t); err != nil {
		return err
	}
	if err := w.check(t, home, host); err != nil {
		return err
	}
	for i, s := range steps {
		w.one(s, trees[i])
	}
	return nil
}

// clone makes a copy of the host's mount that receives from it and gives nothing
// back, mounted nowhere yet.
func clone(s *step) (*os.File, error) {
	recursive := s.added != nil
	if recursive {
		if err := s.added.Is(s.file); err != nil {
			return nil, &unsure{err}
		}
	}
	tree, err := linux.CloneMount(s.file, recursive)
	if err != nil {
		return nil, err
	}
	if err := linux.SetPropagation(tree, linux.MakeSlave, recursive); err != nil {
		_ = tree.Close() // and with it the copy
		return nil, err
	}
	return tree, nil
}

// check proves again, from inside, that this is the container: its namespace by
// number, and its root by the mount that the proof rests on.
func (w *work) check(t *linux.Traveller, home, host uint64) error {
	here, err := t.Namespace()
	if err != nil {
		return err
	}
	if here != w.namespace || here == home || here == host {
		return unsuref("the thread is in mnt:[%d], the container is in mnt:[%d] and the host in mnt:[%d]", here, w.namespace, host)
	}
	root, err := open("/")
	if err != nil {
		return &unsure{err}
	}
	defer root.Close()
	if err := w.root.Is(root); err != nil {
		return &unsure{err}
	}
	if !w.Process.Alive() {
		return unsuref("process %d is gone", w.Process.PID)
	}
	return nil
}

// open opens a mount point in the namespace the thread is in, by no symbolic
// link. It can hang.
func open(path string) (*os.File, error) {
	const walk = linux.NoMagicLinks | linux.NoLinks | linux.NoFollow
	f, err := linux.OpenPath(nil, path, walk|linux.Cached)
	if err == nil {
		return f, nil
	}
	return linux.OpenPath(nil, path, walk)
}

// one changes one mount, or leaves it as it was. Who waits must not go on in
// the middle of that.
func (w *work) one(s *step, tree *os.File) {
	if s.err != nil {
		return
	}
	target, err := w.target(s)
	if err != nil {
		w.failed(s, err)
		return
	}
	defer target.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.late:
		err = errLate
	case s.top != nil && !s.top.done:
		err = errors.New("the mount that it lies on was not changed")
	default:
		err = s.apply(target, tree)
	}
	s.done, s.err = err == nil, err
}

func (w *work) failed(s *step, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.err = err
}

// target opens what is to be changed, if that is still what was decided about.
func (w *work) target(s *step) (*os.File, error) {
	target, err := open(facts.JoinRoot(s.entry.MountPoint, s.below))
	if err != nil {
		return nil, &unsure{err}
	}
	if err := s.entry.Is(target); err != nil {
		_ = target.Close() // opened for reference only
		return nil, &unsure{err}
	}
	return target, nil
}

func (s *step) apply(target, tree *os.File) error {
	switch {
	case s.added != nil:
		return linux.AttachMount(tree, target)
	case s.verb == raise:
		return join(tree, target, s.entry.State.Shared())
	case s.verb == makeSlave:
		return linux.SetPropagation(target, linux.MakeSlave, s.whole)
	default:
		return linux.SetPropagation(target, linux.MakePrivate, s.whole)
	}
}

// join gives a mount the propagation of the host's. One that is in a group of
// its own, which rootfsPropagation can leave it in, has to be private first; it
// is put in one again where that was in vain.
func join(tree, target *os.File, shared bool) error {
	if shared {
		if err := linux.SetPropagation(target, linux.MakePrivate, false); err != nil {
			return err
		}
	}
	err := linux.JoinGroup(tree, target)
	if err != nil && shared {
		err = errors.Join(err, linux.SetPropagation(target, linux.MakeShared, false))
	}
	return err
}
