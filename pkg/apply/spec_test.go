package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/policy"
)

// table is a runtime's mount table: mount point and state, in order.
type table []hostview.Entry

func (t table) First(mountPoint string) (hostview.Entry, bool) {
	for _, e := range t {
		if e.MountPoint == mountPoint {
			return e, true
		}
	}
	return hostview.Entry{}, false
}

func (t table) Recheck(e hostview.Entry) (hostview.Entry, error) { return e, nil }

var (
	shared    = facts.MountState{Peer: 5}
	slaveOnly = facts.MountState{Master: 3}
	private   = facts.MountState{}
)

func at(mountPoint string, state facts.MountState) hostview.Entry {
	return hostview.Entry{MountPoint: mountPoint, State: state}
}

// mount is a bind of source, whose host mount is the source itself.
func mount(destination, source string, state *facts.MountState, options ...string) facts.Mount {
	m := facts.Mount{Destination: destination, Source: source, Type: "bind", Options: append([]string{"rbind"}, options...)}
	if state != nil {
		m.Host = &facts.HostMount{Canonical: source, MountPoint: source, State: *state}
	}
	return m
}

func set(p facts.Propagation, onUnmet ...policy.OnUnmet) policy.Decision {
	d := policy.Decision{Judged: true, Action: facts.ActionSet, Propagation: p, Rule: "r", Position: "p:1"}
	if len(onUnmet) > 0 {
		d.OnUnmet = onUnmet[0]
	}
	return d
}

var (
	allow   = policy.Decision{Judged: true, Action: facts.ActionAllow}
	deny    = policy.Decision{Judged: true, Action: facts.ActionDeny, Rule: "d", Position: "p:9", Reason: "no"}
	ignored = policy.Decision{Action: facts.ActionAllow}
	hosts   = table{at("/", private), at("/s", shared), at("/m", slaveOnly), at("/p", private)}
)

// request is in enforce mode, with the settings' defaults.
func request(mounts []facts.Mount, decisions ...policy.Decision) Request {
	return Request{
		Container: facts.Container{Mounts: mounts, Privileged: facts.Is(true, "test")}, Decisions: decisions, Enforce: true,
		Raise: policy.OnUnmetLeave, Lower: policy.OnUnmetDeny,
		Table: func() (MountTable, error) { return hosts, nil },
	}
}

// sent is the reply as the runtime reads it: destination and options.
func sent(p Plan) []string {
	var all []string
	for _, m := range p.Adjustment.GetMounts() {
		if _, remove := m.IsMarkedForRemoval(); !remove {
			all = append(all, m.GetDestination()+" "+strings.Join(m.GetOptions(), ","))
		}
	}
	return all
}

// TestSpec is the table of what becomes of one decided mount.
func TestSpec(t *testing.T) {
	rro := []string{"rprivate", "rro"}
	tests := []struct {
		name   string
		mount  facts.Mount
		decide policy.Decision
		change func(*Request)
		want   facts.Result
		sent   []string
		reason string // part of the outcome's
	}{
		{"allowed: nothing", mount("/d", "/s", &shared, "rprivate"), allow, nil, facts.Unchanged, nil, ""},
		{"denied", mount("/d", "/s", &shared, "rprivate"), deny, nil, facts.Refused, nil, "no"},
		{"raised", mount("/d", "/s", &shared, "rprivate", "ro"), set(facts.Slave), nil, facts.Applied, []string{"/d rbind,rslave,ro"}, ""},
		{"raised without a word", mount("/d", "/s", &shared, "ro"), set(facts.Slave), nil, facts.Applied, []string{"/d rbind,ro,rslave"}, ""},
		{"as asked", mount("/d", "/s", &shared, "rslave"), set(facts.Slave), nil, facts.Unchanged, nil, ""},
		{"as asked, but not recursive", mount("/d", "/s", &shared, "slave"), set(facts.Slave), nil, facts.Applied, []string{"/d rbind,rslave"}, ""},
		{"two words become one", mount("/d", "/s", &shared, "rprivate", "rslave"), set(facts.Slave), nil, facts.Applied, []string{"/d rbind,rslave"}, ""},
		{"raised on a slave-only source", mount("/d", "/m", &slaveOnly, "rprivate"), set(facts.Slave), nil, facts.Applied, []string{"/d rbind,rslave"}, ""},
		{"shared on a slave-only source", mount("/d", "/m", &slaveOnly, "rprivate"), set(facts.Shared), nil, facts.Left, nil, "sends nothing up"},
		{"raised on a private source", mount("/d", "/p", &private, "rprivate"), set(facts.Slave), nil, facts.Left, nil, "mount --make-rshared /p"},
		{"the same, on_unmet deny", mount("/d", "/p", &private, "rprivate"), set(facts.Slave, policy.OnUnmetDeny), nil, facts.Refused, nil, "mount --make-rshared /p"},
		{"the same, settings deny", mount("/d", "/p", &private, "rprivate"), set(facts.Slave), func(r *Request) { r.Raise = policy.OnUnmetDeny }, facts.Refused, nil, "/p"},
		{"the same, the rule wins over the settings", mount("/d", "/p", &private, "rprivate"), set(facts.Slave, policy.OnUnmetLeave), func(r *Request) { r.Raise = policy.OnUnmetDeny }, facts.Left, nil, "/p"},
		{"source not resolved, the runtime would refuse", mount("/d", "/p/x", nil, "rprivate"), set(facts.Slave), nil, facts.Left, nil, "/p"},
		{"source not resolved, the runtime would accept", mount("/d", "/s/x", nil, "rprivate"), set(facts.Slave), nil, facts.Applied, []string{"/d rbind,rslave"}, ""},
		{"the runtime's string prefix is wrong", mount("/d", "/sx", &shared, "rprivate"), set(facts.Slave), func(r *Request) {
			r.Table = func() (MountTable, error) { return table{at("/", private), at("/s", private)}, nil }
		}, facts.Left, nil, "the runtime would look at the mount /s (private), not at /sx"},
		{"the runtime sees the hidden lower mount", mount("/d", "/s", &shared, "rprivate"), set(facts.Slave), func(r *Request) {
			r.Table = func() (MountTable, error) { return table{at("/", shared), at("/s", private), at("/s", shared)}, nil }
		}, facts.Left, nil, "hidden lower mount"},
		{"the kernel could not, though the runtime would accept", mount("/d", "/s", &private, "rprivate"), set(facts.Slave), nil, facts.Left, nil, "private"},
		{"no table: cannot tell, never refused", mount("/d", "/s", &shared, "rprivate"), set(facts.Slave, policy.OnUnmetDeny), func(r *Request) {
			r.Table = func() (MountTable, error) { return nil, errors.New("stale") }
		}, facts.Left, nil, "cannot tell"},
		{"shared needs privilege", mount("/d", "/s", &shared, "rprivate"), set(facts.Shared), func(r *Request) {
			r.Container.Privileged = facts.CannotTell("no sign")
		}, facts.Left, nil, "only a privileged container"},
		{"shared with privilege", mount("/d", "/s", &shared, "rprivate"), set(facts.Shared), nil, facts.Applied, []string{"/d rbind,rshared"}, ""},
		{"rro is never raised", mount("/d", "/s", &shared, rro...), set(facts.Slave), nil, facts.Left, nil, "recursively read-only"},
		{"rro may be private", mount("/d", "/s", &shared, "rslave", "rro"), set(facts.Private), nil, facts.Applied, []string{"/d rbind,rprivate,rro"}, ""},
		{"user namespace, raise", mount("/d", "/s", &shared, "rprivate"), set(facts.Slave), func(r *Request) { r.Container.UserNamespace = true }, facts.Left, nil, "id mapping"},
		{"user namespace, lowering", mount("/d", "/s", &shared, "rshared"), set(facts.Private), func(r *Request) { r.Container.UserNamespace = true }, facts.Refused, nil, "id mapping"},
		{"user namespace, lowering, leave", mount("/d", "/s", &shared, "rshared"), set(facts.Private, policy.OnUnmetLeave), func(r *Request) { r.Container.UserNamespace = true }, facts.Left, nil, "id mapping"},
		{"lowered to rslave on a private source", mount("/d", "/p", &private, "rshared"), set(facts.Slave), nil, facts.Refused, nil, "/p"},
		{"a destination NRI cannot name", mount("-d", "/s", &shared, "rprivate"), set(facts.Slave), nil, facts.Left, nil, "starts with -"},
		{"the raw destination is sent", mount("/d//x/", "/s", &shared, "rprivate"), set(facts.Slave), nil, facts.Applied, []string{"/d//x/ rbind,rslave"}, ""},
		{"a static pod is never refused", mount("/d", "/s", &shared, "rprivate"), deny, func(r *Request) { r.NeverRefuse = true }, facts.Left, nil, "static pod"},
		{"a static pod is changed", mount("/d", "/s", &shared, "rprivate"), set(facts.Slave), func(r *Request) { r.NeverRefuse = true }, facts.Applied, []string{"/d rbind,rslave"}, ""},
		{"not a bind", facts.Mount{Destination: "/d", Type: "tmpfs", Source: "tmpfs"}, ignored, nil, facts.Unchanged, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := request([]facts.Mount{test.mount}, test.decide)
			if test.change != nil {
				test.change(&r)
			}
			plan := Spec(r)
			o := plan.Outcomes[0]
			if o.Result != test.want || !strings.Contains(o.Reason, test.reason) {
				t.Errorf("result %s (%s), want %s (%s)", o.Result, o.Reason, test.want, test.reason)
			}
			if diff := cmp.Diff(test.sent, sent(plan)); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if refused := plan.Refusal != nil; refused != (test.want == facts.Refused) {
				t.Errorf("refusal = %v", plan.Refusal)
			}
			if o.Result != facts.Applied && o.Decided != o.Asked && test.mount.Bind() {
				t.Errorf("decided %s although it was %s and %s was asked", o.Decided, o.Result, o.Asked)
			}

			r.Enforce = false
			audit := Spec(r)
			if audit.Adjustment != nil || audit.Refusal != nil {
				t.Errorf("audit mode: adjustment %v, refusal %v", audit.Adjustment, audit.Refusal)
			}
			if got := audit.Outcomes[0].Expected(); test.mount.Bind() && got != test.mount.Requested() {
				t.Errorf("audit mode expects %s, asked is %s", got, test.mount.Requested())
			}
		})
	}
}

// TestTableIsReadOnlyForRaises: an rprivate or an unchanged list never waits
// for the mount table.
func TestTableIsReadOnlyForRaises(t *testing.T) {
	r := request([]facts.Mount{mount("/a", "/s", &shared, "rshared"), mount("/b", "/s", &shared, "rprivate")}, set(facts.Private), allow)
	r.Table = func() (MountTable, error) {
		t.Error("the table was read")
		return nil, errors.New("no")
	}
	Spec(r)
}

// TestReply: removal before addition, rprivate last, nothing twice.
func TestReply(t *testing.T) {
	plan := Spec(request([]facts.Mount{
		mount("/a", "/s", &shared, "rshared"), mount("/b", "/s", &shared, "rprivate"), mount("/c", "/s", &shared, "rprivate"),
	}, set(facts.Private), set(facts.Slave), allow))
	bind := func(destination, word string) *api.Mount {
		return &api.Mount{Destination: destination, Type: "bind", Source: "/s", Options: []string{"rbind", word}}
	}
	want := []*api.Mount{{Destination: "-/b"}, bind("/b", "rslave"), {Destination: "-/a"}, bind("/a", "rprivate")}
	if diff := cmp.Diff(want, plan.Adjustment.GetMounts(), protocmp.Transform()); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
}

// TestOptionlessBinds: where the last rshared was lowered, binds without a word
// get one, since rootfsPropagation cannot be lowered.
func TestOptionlessBinds(t *testing.T) {
	hook := func(source string, state *facts.MountState) facts.Mount { return mount("/cdi", source, state) }
	tests := []struct {
		name     string
		mounts   []facts.Mount
		decide   []policy.Decision
		sent     []string
		findings int
	}{
		{
			"lowered: rslave where the host can",
			[]facts.Mount{mount("/a", "/s", &shared, "rshared"), hook("/s", &shared)},
			[]policy.Decision{set(facts.Private), allow},
			[]string{"/cdi rbind,rslave", "/a rbind,rprivate"},
			0,
		},
		{
			"lowered: rprivate where it cannot",
			[]facts.Mount{mount("/a", "/s", &shared, "rshared"), hook("/p", &private)},
			[]policy.Decision{set(facts.Private), allow},
			[]string{"/a rbind,rprivate", "/cdi rbind,rprivate"},
			0,
		},
		{
			"another rshared stays: left, with a finding",
			[]facts.Mount{mount("/a", "/s", &shared, "rshared"), mount("/b", "/s", &shared, "rshared"), hook("/s", &shared)},
			[]policy.Decision{set(facts.Private), allow, allow},
			[]string{"/a rbind,rprivate"},
			1,
		},
		{
			"nothing lowered: left, with a finding",
			[]facts.Mount{mount("/a", "/s", &shared, "rshared"), hook("/s", &shared)},
			[]policy.Decision{allow, allow},
			nil, 1,
		},
		{
			"no rshared asked: nothing to say",
			[]facts.Mount{mount("/a", "/s", &shared, "rslave"), hook("/s", &shared)},
			[]policy.Decision{allow, allow},
			nil, 0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			plan := Spec(request(test.mounts, test.decide...))
			if diff := cmp.Diff(test.sent, sent(plan)); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if len(plan.Findings) != test.findings {
				t.Errorf("findings = %v, want %d", plan.Findings, test.findings)
			}
		})
	}
}

// TestRefusalIsShort: one line of less than 200 bytes that names mount, rule
// and cure, whatever the mount is called.
func TestRefusalIsShort(t *testing.T) {
	for _, destination := range []string{"/data", "/" + strings.Repeat("é", 300), "/a\nb\x1b[31m"} {
		o := facts.Outcome{Mount: mount(destination, "/s", &shared, "rshared"), Asked: facts.Shared, Rule: "r", Position: "policy.toml:7", Reason: strings.Repeat("because ", 40)}
		got := Refusal(o)
		if len(got) >= 200 || strings.ContainsAny(got, "\n\x1b") || !strings.HasPrefix(got, "mountward: mount /") {
			t.Errorf("refusal of %q = %q (%d bytes)", destination, got, len(got))
		}
	}
	o := facts.Outcome{Mount: mount("/data", "/s", &shared, "rshared"), Asked: facts.Shared, Rule: "no-shared", Position: "policy.toml:7", Reason: "ask the storage team"}
	want := `mountward: mount /data (rshared/Bidirectional) refused by rule "no-shared" (policy.toml:7): ask the storage team`
	if got := Refusal(o); got != want {
		t.Errorf("refusal = %q, want %q", got, want)
	}
}

// TestARuleThatCouldNotBeJudgedIsFound: what cannot be told of the host changes
// nothing about a mount, and is recorded all the same.
func TestARuleThatCouldNotBeJudgedIsFound(t *testing.T) {
	m := facts.Mount{Source: "/srv", Destination: "/in", Type: "bind", Options: []string{"rbind", "rprivate"}}
	d := policy.Decision{Judged: true, Action: facts.ActionAllow, Unjudged: "no answer"}
	plan := Spec(Request{Container: facts.Container{Mounts: []facts.Mount{m}}, Decisions: []policy.Decision{d}, Enforce: true})
	want := []facts.Finding{{Code: "rule-not-judged", Mount: "/in", Message: "no answer"}}
	if diff := cmp.Diff(want, plan.Findings); diff != "" || plan.Refusal != nil || plan.Adjustment != nil {
		t.Errorf("findings %s, refusal %v, adjustment %v", diff, plan.Refusal, plan.Adjustment)
	}
	d.Unjudged = ""
	if plan := Spec(Request{Container: facts.Container{Mounts: []facts.Mount{m}}, Decisions: []policy.Decision{d}}); len(plan.Findings) > 0 {
		t.Errorf("findings %v of what was judged", plan.Findings)
	}
}
