package discover

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/words"
)

// disagree says where what is configured is not what is there.
func (k *Kubelet) disagree(tables []*hostview.Table) {
	for _, s := range k.Sources[1:] {
		if s.From == FromProcess && s.Value != k.Root && s.Value != k.Canonical {
			k.tell("%s has %q, but %s has %q", k.Chosen.Evidence, k.Root, s.Evidence, s.Value)
		}
	}
	if k.Canonical != "" && k.Canonical != k.Root {
		k.tell("%q is reached through a symbolic link: the directory is %q, and mount tables have that", k.Root, k.Canonical)
	}
	k.bound(tables)
	if l, moved := k.Moved(); moved {
		k.tell("no volume is mounted below %q, but below %q: %s of %s", k.place(), l.Root, words.Count(l.Volumes, "volume"), words.Count(l.Pods, "pod"))
	}
}

// bound says what is bind-mounted at the root.
func (k *Kubelet) bound(tables []*hostview.Table) {
	for _, t := range tables {
		e, ok := t.At(k.place())
		if !ok || e.Root == "/" {
			continue
		}
		path, _, ok := Origin(t, e)
		if !ok || path == e.MountPoint {
			continue
		}
		k.Bound = path
		k.tell("%q is a bind mount: the directory is %q", k.place(), path)
		return
	}
}

// Moved returns where the kubelet's volumes are mounted, when none is below its
// root and some are elsewhere.
func (k *Kubelet) Moved() (Live, bool) {
	var elsewhere []Live
	for _, l := range k.Live {
		switch l.Root {
		case k.Root, k.Canonical, k.Bound:
			return Live{}, false
		default:
			elsewhere = append(elsewhere, l)
		}
	}
	if len(elsewhere) == 0 {
		return Live{}, false
	}
	return elsewhere[0], true
}

// place is the root as tables have it.
func (k *Kubelet) place() string {
	if k.Canonical != "" {
		return k.Canonical
	}
	clean, _ := facts.CleanAbs(k.Root)
	return clean
}

func (k *Kubelet) tell(format string, args ...any) {
	k.Disagree = append(k.Disagree, fmt.Sprintf(format, args...))
}
