package show

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/policy"
)

// explanationOf is a report in which one name stands wherever a name can.
func explanationOf(name string) Explanation {
	mount := func(options ...string) facts.Mount {
		return facts.Mount{
			Destination: name, Source: name, Type: "bind", Options: append(options, name),
			Host: &facts.HostMount{Canonical: name + "/real", MountPoint: name},
		}
	}
	step := func(matched facts.Truth, action facts.Action) policy.Step {
		return policy.Step{Rule: name, Position: name, Action: action, Matched: matched, Selector: name, Why: name}
	}
	shadow := step(facts.Yes, facts.ActionDeny)
	shadow.Audit = true
	trace := []policy.Step{shadow, step(facts.No, facts.ActionAllow), step(facts.Yes, facts.ActionAudit), step(facts.Unknown, facts.ActionDeny), step(facts.Yes, facts.ActionSet)}
	explained := func(o facts.Outcome, verdict string) ExplainedMount {
		o.Rule, o.Position, o.Reason = name, name, name
		o.Shadow = []facts.Shadow{{Rule: name, Position: name, Reason: name, Action: facts.ActionSet, Propagation: facts.Slave}}
		return ExplainedMount{
			Outcome: o, Verdict: verdict, Decision: policy.Decision{Judged: true, Trace: trace}, Untried: 2,
			Doubts: []string{name}, Volume: name, Note: name, Possible: facts.CannotTell(name),
		}
	}
	asked := facts.Private
	e := Explained{
		From: name, Kind: manifest.KindInit, Verdict: VerdictUnknown,
		Container: audit.Container{ID: name, Name: name, Image: name, Pod: facts.Pod{Name: name, Namespace: name, UID: name}},
		Mounts: []ExplainedMount{
			explained(facts.Outcome{Mount: mount("rprivate"), Asked: asked, Decided: facts.Slave, Action: facts.ActionSet, Result: facts.Applied}, VerdictSet),
			explained(facts.Outcome{Mount: mount("rprivate"), Asked: asked, Decided: asked, Wanted: facts.Slave, Action: facts.ActionSet, Result: facts.Left}, VerdictUnknown),
			explained(facts.Outcome{Mount: mount("rshared"), Asked: facts.Shared, Decided: facts.Shared, Action: facts.ActionDeny, Result: facts.Refused}, VerdictDeny),
			explained(facts.Outcome{Mount: mount("rprivate"), Asked: asked, Decided: facts.Slave, Action: facts.ActionSet, Result: facts.Deferred}, VerdictSet),
			explained(facts.Outcome{Mount: mount(), Asked: facts.Unset, Action: facts.ActionAllow, Result: facts.Unchanged}, VerdictAllow),
			{Outcome: facts.Outcome{Mount: facts.Mount{Destination: name, Type: name}}},
		},
		Hazards:  []facts.Hazard{{Code: facts.HazardInsideShared, Message: name, Destinations: []string{name}, Doubt: name, Action: facts.HazardWarn}, {Code: "MW1", Message: name, Action: facts.HazardDeny}},
		Findings: []facts.Finding{{Code: name, Message: name}},
		Unknown:  []facts.Unread{{What: name, Why: name}},
		Before:   apply.Specification{Mounts: []facts.Mount{mount(), {Destination: "/b" + name}}, RootfsPropagation: name},
		After:    apply.Specification{Mounts: []facts.Mount{{Destination: "/b" + name}, mount()}, RootfsPropagation: "r" + name},
	}
	refused := e
	refused.Mounts, refused.Refusal, refused.Omitted = nil, "x"+name, 3
	failed := e
	failed.Mounts, failed.AfterWhy, failed.Container = nil, "x"+name, audit.Container{ID: name}
	return Explanation{Schema: ExplainSchema, Policy: audit.Policy{Name: name, Mode: name}, Containers: []Explained{e, refused, failed}}
}

func TestNoNameForgesAnExplanation(t *testing.T) {
	write := func(name string) string {
		return text(t, func(w io.Writer) error { return ExplainText(w, explanationOf(name)) })
	}
	plain := write("x")
	for _, name := range hostile() {
		got := write(name)
		if name != "" && strings.Count(got, "\n") != strings.Count(plain, "\n") {
			t.Errorf("%q makes %d lines of %d:\n%s", name, strings.Count(got, "\n"), strings.Count(plain, "\n"), got)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%q reaches the terminal: %q", name, got)
		}
		var x struct {
			Schema     string
			Containers []struct{ Verdict string }
		}
		if err := json.Unmarshal([]byte(text(t, func(w io.Writer) error { return JSON(w, explanationOf(name)) })), &x); err != nil || x.Schema != ExplainSchema || len(x.Containers) != 3 {
			t.Errorf("%q: %v, %+v", name, err, x)
		}
	}
}

func TestExplainText(t *testing.T) {
	step := func(rule string, matched facts.Truth, action facts.Action, selector, why string) policy.Step {
		return policy.Step{Rule: rule, Position: "policy.toml:6", Action: action, Matched: matched, Selector: selector, Why: why}
	}
	trial := func(s policy.Step) policy.Step {
		s.Audit = true
		return s
	}
	kubelet := facts.Mount{Destination: "/var/lib/kubelet", Source: "/var/lib/kubelet", Type: "bind", Options: []string{"rbind", "rshared", "rw"}}
	pods := facts.Mount{
		Destination: "/pods", Source: "/data/pods", Type: "bind", Options: []string{"rbind", "rprivate", "rw"},
		Host: &facts.HostMount{Canonical: "/srv/pods", MountPoint: "/"},
	}
	hosts := facts.Mount{Destination: "/etc/hosts", Source: "/h", Type: "bind", Options: []string{"rbind", "rprivate", "rw"}}
	raised := pods
	raised.Options = []string{"rbind", "rslave", "rw"}
	of := func(mounts ...facts.Mount) apply.Specification { return apply.Specification{Mounts: mounts} }
	container := audit.Container{Name: "exporter", Pod: facts.Pod{Namespace: "monitoring", Name: "exporter-xxxxx"}}
	allowed := ExplainedMount{
		Outcome: facts.Outcome{Mount: hosts, Asked: facts.Private, Decided: facts.Private, Action: facts.ActionAllow, Result: facts.Unchanged},
		Verdict: VerdictAllow, Decision: policy.Decision{Judged: true}, MadeBy: manifest.MadeByKubelet,
	}
	proc := ExplainedMount{Outcome: facts.Outcome{Mount: facts.Mount{Destination: "/proc", Type: "proc"}}, Verdict: VerdictAllow, MadeBy: manifest.MadeByRuntime}
	denied := Explained{
		From: "DaemonSet monitoring/exporter", Kind: manifest.KindContainer, Container: container, Verdict: VerdictDeny,
		Refusal: "mountward: mount /var/lib/kubelet (rshared/Bidirectional) refused",
		Mounts: []ExplainedMount{proc, allowed, {
			Outcome: facts.Outcome{
				Mount: kubelet, Asked: facts.Shared, Decided: facts.Shared, Action: facts.ActionDeny, Result: facts.Refused,
				Rule: "nobody-else-shares", Position: "policy.toml:12", Reason: "ask the storage team",
			},
			Verdict: VerdictDeny, Untried: 1, Volume: "hostPath /var/lib/kubelet", Possible: facts.Is(false, "the container is refused"),
			Decision: policy.Decision{Judged: true, Trace: []policy.Step{
				step("csi-node-drivers", facts.No, facts.ActionAllow, `pod_labels."app"`, `it is "exporter", wants "csi-node"`),
				step("seen", facts.Yes, facts.ActionAudit, "", "all keys of match hold"),
				step("nobody-else-shares", facts.Yes, facts.ActionDeny, "", "all keys of match hold"),
			}},
		}},
		Hazards: []facts.Hazard{{Code: facts.HazardSharedHost, Message: "is rshared", Destinations: []string{"/var/lib/kubelet"}, Action: facts.HazardWarn}},
	}
	set := Explained{
		From: "Pod monitoring/exporter-xxxxx", Kind: manifest.KindSidecar, Container: container, Verdict: VerdictSet,
		Mounts: []ExplainedMount{{
			Outcome: facts.Outcome{
				Mount: pods, Asked: facts.Private, Decided: facts.Slave, Action: facts.ActionSet, Result: facts.Applied, Rule: "follow", Position: "policy.toml:20",
				Shadow: []facts.Shadow{{Rule: "strict", Position: "policy.toml:6", Reason: "ask us", Action: facts.ActionDeny}, {Rule: "wide", Position: "policy.toml:6", Action: facts.ActionSet, Propagation: facts.Shared}},
			},
			Verdict: VerdictSet, Decision: policy.Decision{Judged: true, Trace: []policy.Step{
				trial(step("strict", facts.Unknown, facts.ActionDeny, "image", "it is not known, wants \"a\"")),
				trial(step("wide", facts.Yes, facts.ActionSet, "", "all keys of match hold")),
				trial(step("narrow", facts.No, facts.ActionDeny, "source", "it is \"/data/pods\", wants \"/x\"")),
				step("follow", facts.Yes, facts.ActionSet, "", "all keys of match hold"),
			}},
			Possible: facts.Is(true, "its host mount / is shared:1"),
		}},
		Before: of(hosts, pods), After: of(raised, hosts),
		Unknown: []facts.Unread{{What: "pod uid", Why: "it is given when the pod is made"}},
	}
	set.After.RootfsPropagation = "rslave"
	x := Explanation{Policy: audit.Policy{Name: "policy.toml", Mode: "enforce"}, Containers: []Explained{denied.Visible(), set.Visible()}}
	golden(t, "explain.text", text(t, func(w io.Writer) error { return ExplainText(w, x) }))
}

// TestWhatAHazardNamesIsShown also where nothing is done about it.
func TestWhatAHazardNamesIsShown(t *testing.T) {
	dull := ExplainedMount{
		Outcome: facts.Outcome{Mount: facts.Mount{Destination: "/etc/hosts"}, Result: facts.Unchanged}, MadeBy: manifest.MadeByKubelet,
		Verdict: VerdictAllow, Decision: policy.Decision{Judged: true},
	}
	e := Explained{Mounts: []ExplainedMount{dull}}
	if got := e.Visible(); len(got.Mounts) != 0 || got.Omitted != 1 || len(e.Mounts) != 1 {
		t.Errorf("dull: %+v", got)
	}
	e.Hazards = []facts.Hazard{{Destinations: []string{"/a", "/etc/hosts"}}}
	if got := e.Visible(); len(got.Mounts) != 1 || got.Omitted != 0 {
		t.Errorf("named by a hazard: %+v", got)
	}
	for _, change := range []func(*ExplainedMount){
		func(m *ExplainedMount) { m.MadeBy = "" },
		func(m *ExplainedMount) { m.Verdict = VerdictDeny },
		func(m *ExplainedMount) { m.Result = facts.Applied },
		func(m *ExplainedMount) { m.Audited = []string{"seen"} },
		func(m *ExplainedMount) { m.Shadow = []facts.Shadow{{Rule: "tried"}} },
	} {
		m := dull
		change(&m)
		if m.Dull() {
			t.Errorf("dull: %+v", m)
		}
	}
}
