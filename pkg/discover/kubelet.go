package discover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/words"
)

const maxArgsFile = 1 << 16 // bytes

// kubelet joins all sources but those that need the runtime.
func (n Node) kubelet(ctx context.Context, s Settings, procs processes) Kubelet {
	k := Kubelet{Passed: procs.passedKubelets}
	why := slices.Clone(procs.errs)
	c := chooseRoot(procs.kubelets, &reader{
		file: func(path string) (string, error) { return n.read(ctx, 1, path, maxArgsFile) },
		dir:  func(path string) ([]string, error) { return n.names(ctx, 1, path) },
	})
	why = append(why, c.passed...)
	k.PID = c.process.pid
	if s.KubeletRoot != "" {
		k.Sources = append(k.Sources, Source{FromSettings, s.KubeletRoot, "[host] kubelet_root"})
	}
	if c.evidence != "" {
		k.Sources = append(k.Sources, Source{c.from, c.root, c.evidence})
		k.Sources = append(k.Sources, c.others...)
		endpoint := first(c.process.args[1:], "container-runtime-endpoint")
		k.Endpoint = strings.TrimPrefix(endpoint, "unix://")
	}
	k.Why = strings.Join(why, "; ")
	return k
}

// compareRoots adds what the tables and the files say, chooses, and says where
// the sources disagree.
func (n Node) compareRoots(ctx context.Context, k *Kubelet, r Runtime) {
	tables := n.tables(k, r)
	said := ""
	if len(k.Sources) > 0 {
		said = k.Sources[0].Value
	}
	k.Live = liveRoots(tables, said)
	for _, l := range k.Live {
		k.Sources = append(k.Sources, Source{FromMounts, l.Root, fmt.Sprintf("below it are mounted: %s of %s, as %s", words.Count(l.Volumes, "volume"), words.Count(l.Pods, "pod"), l.Line)})
	}
	n.exist(ctx, k)
	if len(k.Sources) == 0 {
		k.Sources = []Source{{FromDefault, DefaultKubeletRoot, "nothing else is known"}}
	}
	k.Chosen = k.Sources[0]
	k.Root = k.Chosen.Value
	n.canonical(ctx, k)
	k.disagree(tables)
}

// tables are those that matter: of the runtime, the kubelet and process 1, each
// once.
func (n Node) tables(k *Kubelet, r Runtime) []*hostview.Table {
	var all []*hostview.Table
	seen := map[*hostview.Table]bool{}
	for _, pid := range []int{r.PID, r.Shim, k.PID, 1} {
		if pid == 0 {
			continue
		}
		t, err := n.Table(pid)
		if err == nil && t != nil && !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
	return all
}

// exist adds the known places that are there, where no stronger source has
// spoken.
func (n Node) exist(ctx context.Context, k *Kubelet) {
	if len(k.Sources) > 0 {
		return
	}
	files, err := n.Files(1)
	if err != nil {
		return
	}
	for _, root := range kubeletRoots() {
		if _, err := files.Canonical(ctx, root); err == nil {
			k.Sources = append(k.Sources, Source{FromTable, root, "it exists"})
		}
	}
}

// canonical resolves the root where the kubelet does.
func (n Node) canonical(ctx context.Context, k *Kubelet) {
	pid := k.PID
	if pid == 0 {
		pid = 1
	}
	files, err := n.Files(pid)
	if err == nil {
		k.Canonical, err = files.Canonical(ctx, k.Root)
	}
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		k.Canonical = k.Root // the kubelet makes it
	default:
		k.because(err)
	}
}

func (k *Kubelet) because(err error) {
	if k.Why != "" {
		k.Why += "; "
	}
	k.Why += err.Error()
}

func (n Node) read(ctx context.Context, pid int, path string, limit int) (string, error) {
	files, err := n.Files(pid)
	if err != nil {
		return "", err
	}
	text, err := files.ReadFile(ctx, path, limit)
	return string(text), err
}

func (n Node) names(ctx context.Context, pid int, dir string) ([]string, error) {
	files, err := n.Files(pid)
	if err != nil {
		return nil, err
	}
	return files.ReadDir(ctx, dir, maxNames)
}

const maxNames = 4096 // of a directory
