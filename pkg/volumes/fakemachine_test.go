package volumes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

const state = "/run/containerd"

func bundleDir(namespace, id string) string {
	return state + "/io.containerd.runtime.v2.task/" + namespace + "/" + id
}

// fakeTask is one container of a fake machine.
type fakeTask struct {
	spec     hostview.Spec
	specErr  error
	pid      int // 0: no init.pid
	pidErr   error
	identity facts.Answer
	dead     bool
	table    []string
	later    []string // the table when it is asked for again
}

// fakeMachine is a node with containers.
type fakeMachine struct {
	*fakeHost
	t          testing.TB
	tasks      map[string]*fakeTask // by bundle
	bundlesErr error
	host       []string
	hostErr    error
	overlays   []string // the lines of the host that have options
	cancel     func()   // called when the first specification is read
}

func (m *fakeMachine) Bundles(_ context.Context, of string) ([]hostview.Bundle, error) {
	var all []hostview.Bundle
	for _, dir := range slices.Sorted(maps.Keys(m.tasks)) {
		if facts.Within(dir, of) {
			all = append(all, hostview.Bundle{Dir: dir})
		}
	}
	return all, m.bundlesErr
}

func (m *fakeMachine) Spec(_ context.Context, b hostview.Bundle) (hostview.Spec, error) {
	if m.cancel != nil {
		m.cancel()
	}
	return m.tasks[b.Dir].spec, m.tasks[b.Dir].specErr
}

func (m *fakeMachine) InitPID(_ context.Context, b hostview.Bundle) (int, error) {
	task := m.tasks[b.Dir]
	if task == nil || task.pid == 0 && task.pidErr == nil {
		return 0, errGone(b.Dir + "/init.pid")
	}
	return task.pid, task.pidErr
}

func (m *fakeMachine) Reread(context.Context) (*hostview.Table, error) {
	if m.hostErr != nil {
		return nil, m.hostErr
	}
	return tableOf(m.t, m.host...), nil
}

func (m *fakeMachine) options() (*hostview.Table, error) {
	if m.overlays == nil {
		return nil, errors.New("in another mount namespace")
	}
	return tableOf(m.t, m.overlays...), nil
}

func (m *fakeMachine) prove(_ context.Context, pid int, rootfs string) (facts.Answer, *hostview.Table, bool) {
	task := m.tasks[path.Dir(rootfs)]
	if task.dead {
		return facts.CannotTell(fmt.Sprintf("process %d: it is gone", pid)), nil, false
	}
	lines := task.table
	if task.later != nil {
		task.table = task.later
	}
	if lines == nil {
		return task.identity, nil, true
	}
	return task.identity, tableOf(m.t, lines...), true
}

func annotated(kind, name, uid string) map[string]string {
	return map[string]string{
		"io.kubernetes.cri.container-type": kind, "io.kubernetes.cri.container-name": name, "io.kubernetes.cri.sandbox-name": "db-0",
		"io.kubernetes.cri.sandbox-namespace": "prod", "io.kubernetes.cri.sandbox-uid": uid, "io.kubernetes.cri.sandbox-id": "sb",
	}
}

func bind(destination, source string) facts.Mount {
	return facts.Mount{Destination: destination, Source: source, Type: "bind", Options: []string{"rbind", "rslave"}}
}

// smallNode has a pod with a pause container and one on vg0/pvc-1.
func smallNode(t testing.TB) *fakeMachine {
	h := onHost(map[string]facts.HostMount{
		csiTarget: {Device: number(253, 2), Root: "/", FSType: "xfs", State: facts.MountState{Peer: 3}},
	})
	return &fakeMachine{fakeHost: h, t: t, host: append(hostLines(),
		"40 20 0:50 / "+bundleDir("k8s.io", "c1")+"/rootfs rw - overlay overlay rw",
	), tasks: map[string]*fakeTask{
		bundleDir("k8s.io", "sb"): {
			spec: hostview.Spec{Annotations: annotated("sandbox", "", podUID)}, pid: 10, identity: facts.Is(true, "same"),
			table: []string{"90 1 8:1 /pause / rw - ext4 x rw"},
		},
		bundleDir("k8s.io", "c1"): {
			spec: hostview.Spec{Annotations: annotated("container", "main", podUID), Mounts: []facts.Mount{bind("/data", csiTarget)}},
			pid:  11, identity: facts.Is(true, "same"),
			table: []string{"100 1 8:1 /snap / rw - ext4 x rw", "101 100 253:2 / /data rw master:3 - xfs x rw"},
		},
	}}
}

func surveyOf(m *fakeMachine, change func(*Node)) Survey {
	n := Node{Devices: node(), KubeletRoot: kubelet, States: []string{state}, RuntimeRoot: "/var/lib/containerd"}
	if change != nil {
		change(&n)
	}
	return surveyor{n, m}.survey(m.t.Context())
}
