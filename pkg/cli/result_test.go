package cli

import (
	"errors"
	"testing"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/settings"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

// codeOf is the exit code an error of a verb leads to.
func codeOf(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return ExitYes
	}
	var e *exit
	if !errors.As(err, &e) {
		t.Fatalf("no exit code: %v", err)
	}
	return e.code
}

// TestVerdictOfAll: drift is told before anything that cannot be; what could
// not be read elsewhere is of no weight for containers that were named.
func TestVerdictOfAll(t *testing.T) {
	tasks := func(verdicts ...verify.Verdict) []show.VerifiedTask {
		var all []show.VerifiedTask
		for _, v := range verdicts {
			all = append(all, show.VerifiedTask{Verdict: v})
		}
		return all
	}
	unread := []volumes.Unknown{{What: "container x", Why: "y"}}
	for _, test := range []struct {
		name    string
		all     bool
		tasks   []show.VerifiedTask
		unknown []volumes.Unknown
		want    int
	}{
		{"all the same", true, tasks(verify.Same, verify.Same), nil, ExitYes},
		{"nothing there", true, nil, nil, ExitYes},
		{"drift", true, tasks(verify.Same, verify.Drift), nil, ExitNo},
		{"drift after unknown", true, tasks(verify.Unknown, verify.Drift), unread, ExitNo},
		{"one unknown", true, tasks(verify.Unknown, verify.Same), nil, ExitCannotTell},
		{"something unread", true, tasks(verify.Same), unread, ExitCannotTell},
		{"something unread elsewhere", false, tasks(verify.Same), unread, ExitYes},
		{"a verdict nobody knows", false, tasks("new"), nil, ExitCannotTell},
	} {
		o := verifyOptions{all: test.all}
		if got := codeOf(t, o.verdict(show.Verification{Tasks: test.tasks, Unknown: test.unknown})); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}

// TestMarksThatWereNotLookedForDecideNothing, but a container that was not read
// does.
func TestMarksThatWereNotLookedForDecideNothing(t *testing.T) {
	marks := volumes.Unknown{What: "marks orphan-rootfs and no-such-pod", Why: "not all containers of the node are known"}
	container := volumes.Unknown{What: "container marks", Why: "half-written"}
	for _, test := range []struct {
		unknown []volumes.Unknown
		found   int
		want    int
	}{
		{nil, 1, ExitYes},
		{nil, 0, ExitNo},
		{[]volumes.Unknown{marks}, 1, ExitYes},
		{[]volumes.Unknown{marks}, 0, ExitNo},
		{[]volumes.Unknown{marks, container}, 1, ExitCannotTell},
		{[]volumes.Unknown{container}, 0, ExitCannotTell},
	} {
		f := found{node: &node{}}
		if got := codeOf(t, f.result(test.found, len(ofContainers(test.unknown)), "nothing")); got != test.want {
			t.Errorf("%v, %d found: %d, want %d", test.unknown, test.found, got, test.want)
		}
	}
}

// TestOnlyWhatPluginsAreToldOfIsVerified, unless nothing else was named.
func TestOnlyWhatPluginsAreToldOfIsVerified(t *testing.T) {
	member := func(id, namespace string, sandbox bool) volumes.Member {
		return volumes.Member{Container: facts.Container{ID: id}, Namespace: namespace, Sandbox: sandbox}
	}
	app, pause, docker := member("app", "k8s.io", false), member("pause", "k8s.io", true), member("docker", "moby", false)
	for _, test := range []struct {
		all     bool
		members []volumes.Member
		want    string
	}{
		{true, []volumes.Member{app, pause, docker}, "app"},
		{true, []volumes.Member{pause, docker}, ""},
		{false, []volumes.Member{pause, app}, "app"},
		{false, []volumes.Member{pause}, "pause"},
		{false, []volumes.Member{docker}, "docker"},
		{false, nil, ""},
	} {
		o := verifyOptions{all: test.all}
		got := ""
		for _, m := range o.decidable(test.members) {
			got += m.Container.ID
		}
		if got != test.want {
			t.Errorf("all %t: %q, want %q", test.all, got, test.want)
		}
	}
}

// TestRuntimeRootGoesWithTheState: a distribution that moved containerd's state
// has moved its root, unless the settings say where it is.
func TestRuntimeRootGoesWithTheState(t *testing.T) {
	for _, test := range []struct {
		setting string
		states  []string
		want    string
	}{
		{settings.Auto, nil, "/var/lib/containerd"},
		{settings.Auto, []string{"/run/containerd"}, "/var/lib/containerd"},
		{settings.Auto, []string{"/srv/x", "/run/k3s/containerd"}, "/var/lib/rancher/k3s/agent/containerd"},
		{"/data/containerd", []string{"/run/k3s/containerd"}, "/data/containerd"},
	} {
		n := &node{states: test.states}
		n.settings.Host.RuntimeRoot = test.setting
		if got := n.runtimeRoot(); got != test.want {
			t.Errorf("%s %v: %s, want %s", test.setting, test.states, got, test.want)
		}
	}
}
