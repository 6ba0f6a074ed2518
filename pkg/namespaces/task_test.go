package namespaces

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
)

type fakeBundles struct {
	lists map[string]error
	specs map[string]error // by container
	pids  map[string]error
}

func (f fakeBundles) Bundles(_ context.Context, state string) ([]hostview.Bundle, error) {
	err, ok := f.lists[state]
	if !ok {
		return nil, fs.ErrNotExist
	}
	var all []hostview.Bundle
	for _, id := range []string{"a", "b", "c", "d"} {
		all = append(all, hostview.Bundle{Dir: state + "/io.containerd.runtime.v2.task/k8s.io/" + id})
	}
	return all, err
}

func (f fakeBundles) Spec(_ context.Context, b hostview.Bundle) (hostview.Spec, error) {
	s := hostview.Spec{Annotations: map[string]string{"io.kubernetes.cri.container-type": "sandbox", "io.kubernetes.cri.sandbox-uid": uid}}
	return s, f.specs[b.ID()]
}

func (f fakeBundles) InitPID(_ context.Context, b hostview.Bundle) (int, error) {
	if err := f.pids[b.ID()]; err != nil {
		return 0, err
	}
	return int(b.ID()[0]), nil
}

func TestTasksAreListedAndWhatIsMissingIsSaid(t *testing.T) {
	absent := fmt.Errorf("open: %w", fs.ErrNotExist)
	host := fakeBundles{
		lists: map[string]error{"/run/containerd": errors.Join(absent, errors.New("hung"))},
		specs: map[string]error{"b": errors.New("half"), "c": absent, "d": absent},
		pids:  map[string]error{"a": absent, "c": errors.New("no number"), "d": absent},
	}
	tasks, unknown := Tasks(context.Background(), host, []string{"/run/absent", "/run/containerd"})
	var got []string
	for _, task := range tasks {
		got = append(got, fmt.Sprint(task.Container.ID, " ", task.PID, " ", task.Sandbox, " ", task.Container.Pod.UID))
	}
	// d is neither specified nor started: it was removed since it was listed.
	if diff := cmp.Diff([]string{"a 0 true " + uid, "b 98 false ", "c 0 false "}, got); diff != "" {
		t.Error(diff)
	}
	var what []string
	for _, u := range unknown {
		what = append(what, u.What)
	}
	if diff := cmp.Diff([]string{"containers below /run/containerd", "container b", "container c", "process of container c"}, what); diff != "" {
		t.Error(diff)
	}
}
