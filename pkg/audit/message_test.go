package audit

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

func TestMessageReadsAlone(t *testing.T) {
	t.Parallel()
	would := func(o facts.Outcome) facts.Outcome { o.Would = true; return o }
	left := appliedOutcome()
	left.Decided, left.Wanted = left.Asked, left.Decided
	left.Result, left.Reason = facts.Left, "the host mount / is private; run: mount --make-rshared /"
	deferred := appliedOutcome()
	deferred.Result = facts.Deferred
	audited := facts.Outcome{
		Mount: facts.Mount{Destination: "/run"}, Asked: facts.Shared, Decided: facts.Shared,
		Action: facts.ActionAllow, Result: facts.Unchanged, Audited: []string{"can-mount-onto-the-host"},
	}
	shadowed := audited
	shadowed.Shadow = []facts.Shadow{
		{Rule: "a", Action: facts.ActionDeny}, {Rule: "b", Action: facts.ActionSet, Propagation: facts.Slave}, {Rule: "c", Action: facts.ActionAllow},
	}
	byDefault := refusedOutcome()
	byDefault.Rule, byDefault.Position, byDefault.Reason = "", "", ""
	decision := func(refused bool, outcomes ...facts.Outcome) Decision {
		return Decision{Container: testContainer(), Policy: testPolicy(), Refused: refused, Outcomes: outcomes}
	}
	withFinding := decision(false)
	withFinding.Findings = []facts.Finding{{Code: "private-copy", Message: "a private copy of / pins volumes"}}
	repeated := decision(true, refusedOutcome())
	repeated.Repeated = 12
	noOutcome := decision(true)
	noOutcome.Owner = "mountward: no decision in time"
	slave, shared := &facts.MountState{Master: 1}, &facts.MountState{Peer: 1}

	tests := map[string]struct {
		event    Event
		want     string
		priority priority
	}{
		"refused": {
			decision(true, appliedOutcome(), refusedOutcome()),
			`refused container app of pod prod/web-0: mount /var/lib/kubelet asked rshared (Bidirectional): rule "nobody-else-shares" policy.toml:12: use HostToContainer; 1 more mount: see MOUNTWARD_MOUNT`,
			prioWarning,
		},
		"refused by the default": {
			decision(true, byDefault),
			`refused container app of pod prod/web-0: mount /var/lib/kubelet asked rshared (Bidirectional): the policy's default`,
			prioWarning,
		},
		"audit mode would refuse": {
			decision(false, would(refusedOutcome())),
			`would refuse container app of pod prod/web-0: mount /var/lib/kubelet asked rshared (Bidirectional): rule "nobody-else-shares" policy.toml:12: use HostToContainer`,
			prioNotice,
		},
		"a refused mount in a container that was let through": {
			decision(false, refusedOutcome()),
			`would refuse container app of pod prod/web-0: mount /var/lib/kubelet asked rshared (Bidirectional): rule "nobody-else-shares" policy.toml:12: use HostToContainer`,
			prioNotice,
		},
		"refused without a refused mount says what the owner was told": {
			noOutcome, `refused container app of pod prod/web-0: mountward: no decision in time`, prioWarning,
		},
		"refused again and again": {
			repeated,
			`refused container app of pod prod/web-0: mount /var/lib/kubelet asked rshared (Bidirectional): rule "nobody-else-shares" policy.toml:12: use HostToContainer (repeated 12 times)`,
			prioWarning,
		},
		"set": {
			decision(false, appliedOutcome()),
			`set /var/lib/kubelet rprivate -> rslave in container app of pod prod/web-0 (rule "agents", policy.toml:20)`,
			prioNotice,
		},
		"audit mode would set": {
			decision(false, would(appliedOutcome())),
			`would set /var/lib/kubelet rprivate -> rslave in container app of pod prod/web-0 (rule "agents", policy.toml:20)`,
			prioNotice,
		},
		"left": {
			decision(false, left),
			`left /var/lib/kubelet rprivate in container app of pod prod/web-0, not rslave as decided (rule "agents", policy.toml:20): the host mount / is private; run: mount --make-rshared /`,
			prioWarning,
		},
		"deferred": {
			decision(false, deferred),
			`set /var/lib/kubelet rprivate -> rslave at start in the mount namespace of container app of pod prod/web-0 (rule "agents", policy.toml:20)`,
			prioNotice,
		},
		"an audit rule matched": {
			decision(false, audited),
			`noted mount /run rshared (Bidirectional) in container app of pod prod/web-0 (audit rule "can-mount-onto-the-host")`,
			prioNotice,
		},
		"a rule in audit mode matched": {
			decision(false, shadowed),
			`noted mount /run rshared (Bidirectional) in container app of pod prod/web-0 (audit rule "can-mount-onto-the-host"; rule "a" in audit mode would refuse; rule "b" in audit mode would set rslave; rule "c" in audit mode would allow)`,
			prioNotice,
		},
		"only a finding": {
			withFinding, `found in container app of pod prod/web-0: a private copy of / pins volumes`, prioNotice,
		},
		"more propagation than decided": {
			Drift{Container: testContainer(), Refused: true, Proofs: []verify.Proof{
				{Destination: "/ok", Decided: facts.Slave, Seen: slave, Host: shared, Verdict: verify.Same},
				{Destination: "/x", Decided: facts.Slave, Verdict: verify.Unknown, Reason: "overmounted"},
				{Destination: "/y", Decided: facts.Slave, Seen: shared, Host: shared, Verdict: verify.Drift, More: true, Reason: "another plugin set it"},
			}},
			`refused the start of container app of pod prod/web-0: mount /y is shared:1, decided rslave (host: shared:1): another plugin set it; 1 more mount: see MOUNTWARD_MOUNT`,
			prioError,
		},
		"less propagation than decided": {
			Drift{Container: testContainer(), Proofs: []verify.Proof{
				{Destination: "/y", Decided: facts.Slave, Seen: &facts.MountState{}, Host: shared, Verdict: verify.Drift},
			}},
			`container app of pod prod/web-0 has less propagation than decided: mount /y is private, decided rslave (host: shared:1)`,
			prioWarning,
		},
		"cannot tell is not private": {
			Drift{Container: testContainer(), Proofs: []verify.Proof{
				{Destination: "/y", Decided: facts.Slave, Verdict: verify.Unknown, Reason: "a virtual machine"},
			}},
			`cannot tell whether container app of pod prod/web-0 is as decided: mount /y is not known, decided rslave (host: not known): a virtual machine`,
			prioNotice,
		},
		"task": {
			Task{
				Container: testContainer(), Task: volumes.Task{
					PID:    4711,
					Rootfs: volumes.Rootfs{Backing: volumes.Backing{Device: facts.DeviceNumber{Major: 253, Minor: 1}, LV: "vg0/root"}},
					Mounts: []volumes.Mount{
						{Destination: "/a", Backing: volumes.Backing{Device: facts.DeviceNumber{Major: 253, Minor: 2}, LV: "vg0/pvc-1"}},
						{Destination: "/b", Backing: volumes.Backing{NoLV: "tmpfs"}},
					},
				},
			},
			`container app of pod prod/web-0 started as pid 4711, root filesystem on vg0/root (253:1); 2 mounts, 1 on logical volumes: /a on vg0/pvc-1 (253:2)`,
			prioInfo,
		},
		"task with raw devices": {
			Task{Container: testContainer(), Task: volumes.Task{
				Rootfs:     volumes.Rootfs{Backing: volumes.Backing{NoLV: "tmpfs: in memory"}},
				Raw:        []volumes.Raw{{Path: "/dev/xvda", Kind: "csi", Volume: "pvc-2", Backing: volumes.Backing{Device: facts.DeviceNumber{Major: 253, Minor: 7}, LV: "vg0/pvc-2"}}},
				RawOmitted: 3,
			}},
			`container app of pod prod/web-0 started, root filesystem on a device not known (tmpfs: in memory); 0 mounts and 4 block devices, 1 on logical volumes: /dev/xvda on vg0/pvc-2 (253:7)`,
			prioInfo,
		},
		"task of which nothing is known": {
			Task{Container: Container{ID: containerID}, Task: volumes.Task{Rootfs: volumes.Rootfs{Backing: volumes.Backing{NoLV: "no rights to read"}}}},
			`container 0123456789ab started, root filesystem on a device not known (no rights to read); 0 mounts, 0 on logical volumes`,
			prioInfo,
		},
		"leftover": {
			Leftover{Container: testContainer(), Mounts: []LeftoverMount{
				{Code: "dead-pod", Path: "/var/lib/kubelet/pods/u/volumes/x y", Why: "its pod has no task on this node any more", Backing: volumes.Backing{Device: facts.DeviceNumber{Major: 253, Minor: 2}, LV: "vg0/pvc-1"}},
				{Code: "made", Path: "/a", Why: "new"},
				{Code: "made", Path: "/b", Why: "new"},
				{Code: "made", Path: "/c", Why: "new"},
			}},
			`container app of pod prod/web-0 has ended and left 4 mounts on the host: "/var/lib/kubelet/pods/u/volumes/x y" on vg0/pvc-1 (253:2) (its pod has no task on this node any more), /a on a device not known (new), /b on a device not known (new), and 1 more`,
			prioWarning,
		},
		"missed": {
			Missed{Container: testContainer(), Outcomes: []facts.Outcome{would(appliedOutcome()), would(refusedOutcome())}},
			`container app of pod prod/web-0 was created unseen: would refuse container app of pod prod/web-0: mount /var/lib/kubelet asked rshared (Bidirectional): rule "nobody-else-shares" policy.toml:12: use HostToContainer; 1 more mount: see MOUNTWARD_MOUNT`,
			prioWarning,
		},
		"missed and would be changed": {
			Missed{Container: testContainer(), Outcomes: []facts.Outcome{would(appliedOutcome())}},
			`container app of pod prod/web-0 was created unseen: would set /var/lib/kubelet rprivate -> rslave in container app of pod prod/web-0 (rule "agents", policy.toml:20)`,
			prioNotice,
		},
		"missed and nothing to it": {
			Missed{Container: testContainer(), Outcomes: []facts.Outcome{{Result: facts.Unchanged}}},
			`container app of pod prod/web-0 was created unseen; the policy would have changed nothing`,
			prioInfo,
		},
		"missed and unknown": {
			Missed{Container: testContainer(), Findings: []facts.Finding{{Code: "cannot-tell", Message: "its config.json is gone"}}},
			`container app of pod prod/web-0 was created unseen: its config.json is gone`,
			prioWarning,
		},
		"missed and not started": {
			Missed{Container: testContainer(), Refused: true, Owner: "mountward: mount /a is rshared", Outcomes: []facts.Outcome{would(refusedOutcome())}},
			`refused the start of container app of pod prod/web-0, which was created unseen: mount /a is rshared`,
			prioError,
		},
		"first start": {
			func() Event {
				s := FirstStart{Policy: testPolicy(), Running: 14}
				for range 12 {
					s.Changed.Add(testContainer())
				}
				s.Refused.Add(Container{Name: "a b", Pod: facts.Pod{Namespace: "n", Name: "p\n"}})
				return s
			}(),
			`14 containers ran when mountward first came to this node: 1 would have been refused, 12 would have been changed; the first would have been refused: container "a b" of pod n/"p\n"`,
			prioNotice,
		},
		"first start on an empty node": {
			FirstStart{Policy: testPolicy()}, `0 containers ran when mountward first came to this node`, prioInfo,
		},
		"host path shared": {
			Host{Path: "/var/lib/kubelet", What: "kubelet root", Shared: true, Mount: *hostMount()},
			`a host path is shared now: the kubelet root /var/lib/kubelet is on /, which is shared:1 in the runtime's namespace; containers created from now on can follow it`,
			prioNotice,
		},
		"host path no longer shared": {
			Host{Path: "/a b", What: "required path", Mount: facts.HostMount{MountPoint: "/a b"}},
			`a host path is no longer shared: the required path "/a b" is on "/a b", which is private in the runtime's namespace; containers do not see what is mounted there; run: mount --make-rshared "/a b"`,
			prioWarning,
		},
		"connected": {
			Connection{State: Connected, Runtime: "containerd v2.4.2", NRI: "v0.12.3", RuntimePID: 12, Containers: 1},
			`connected and synchronized with the runtime "containerd v2.4.2", process 12, NRI v0.12.3: 1 container`, prioNotice,
		},
		"lost": {
			Connection{State: Lost, Held: 1500 * time.Millisecond, Why: "ttrpc: server closed", Next: "next attempt in about 200ms"},
			`lost the connection to the runtime after 1.5s: nothing is decided until there is a new one: ttrpc: server closed; next attempt in about 200ms`, prioWarning,
		},
		"given up": {
			Connection{State: GivenUp, Why: "not configured for 15s"},
			`gave up a connection to the runtime: nothing is decided until there is a new one: not configured for 15s`, prioError,
		},
		"standing aside": {
			Connection{State: StandingAside, Why: "process 7 holds /run/mountward/lock"},
			`standing aside: this process changes nothing, refuses nothing and keeps nothing: process 7 holds /run/mountward/lock`, prioWarning,
		},
		"took over": {Connection{State: TookOver}, `took over: this process decides from now on`, prioNotice},
		"policy loaded": {
			PolicyLoaded{Policy: testPolicy(), Source: FromFile, Default: "allow", Rules: 12},
			`policy /etc/mountward/policy.toml in force: mode enforce, default allow, 12 rules, sha256 3f9c3f9c3f9c`,
			prioNotice,
		},
		"policy of several files": {
			PolicyLoaded{Policy: testPolicy(), Source: FromFile, Default: "allow", Rules: 12, DropIns: []string{"/etc/mountward/policy.d/10-a.toml"}},
			`policy /etc/mountward/policy.toml in force: mode enforce, default allow, 12 rules in 2 files, sha256 3f9c3f9c3f9c`,
			prioNotice,
		},
		"last good policy and bad settings": {
			PolicyLoaded{Policy: testPolicy(), Source: FromLastGood, Default: "deny", Rules: 1, Problems: []string{"mountward.toml:3:1: unknown key"}},
			`last good copy of policy /etc/mountward/policy.toml in force: mode enforce, default deny, 1 rule, sha256 3f9c3f9c3f9c; 1 problem with the settings: mountward.toml:3:1: unknown key`,
			prioWarning,
		},
		"policy rejected": {
			PolicyRejected{
				Name: "/etc/mountward/policy.toml",
				Errors: []PolicyError{
					{File: "policy.toml", Line: 12, Column: 5, Message: `unknown key "matc"`},
					{Message: "no default"},
				},
				InForce: InForce{Policy: testPolicy(), Source: FromFile},
			},
			`policy /etc/mountward/policy.toml rejected: policy.toml:12:5: unknown key "matc" (and 1 more error: see MOUNTWARD_ERROR); the policy loaded before, 3f9c3f9c3f9c, stays in force, mode enforce`,
			prioError,
		},
		"policy rejected and nothing in force": {
			PolicyRejected{Name: "p.toml", InForce: InForce{Source: FromNothing}},
			`policy p.toml rejected; no policy is in force and every container but static pods is refused`,
			prioError,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := new(layouts).newRecord(test.event, noon())
			if diff := cmp.Diff(test.want, got.message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if got.priority != test.priority {
				t.Errorf("priority %s, want %s", got.priority, test.priority)
			}
		})
	}
}

func TestNamesFromOutsideCannotPassForWordsOfOurs(t *testing.T) {
	t.Parallel()
	c := testContainer()
	c.Name = `app of pod kube-system/dns`
	o := refusedOutcome()
	o.Mount.Destination = "/x asked rprivate: rule \"ok\"\nPRIORITY=0"
	got := new(layouts).newRecord(Decision{Container: c, Refused: true, Outcomes: []facts.Outcome{o}}, noon()).message
	want := `refused container "app of pod kube-system/dns" of pod prod/web-0: mount "/x asked rprivate: rule \"ok\"\nPRIORITY=0" asked rshared`
	if !strings.HasPrefix(got, want) {
		t.Errorf("message %s\nwant it to begin with %s", got, want)
	}
}

func TestOneLineEscapesWhatDoesNotPrint(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain \"quoted\" \\ text": "plain \"quoted\" \\ text",
		"a\nb\tc\x00\x7f":          `a\nb\tc\x00\x7f`,
		"\xff\x1b[2J\u202eevil":    `\xff\x1b[2J\u202eevil`,
		"für \ufffd":               "für \ufffd",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzOneLine(f *testing.F) {
	f.Add("a\nb")
	f.Add(strings.Repeat("\xff", 3000))
	f.Fuzz(func(t *testing.T, text string) {
		for _, got := range []string{oneLine(text), oneLine(word(text))} {
			if len(got) > maxMessage || !utf8.ValidString(got) {
				t.Errorf("%d bytes, valid %t", len(got), utf8.ValidString(got))
			}
			if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Errorf("%q has a character that does not print at %d", got, i)
			}
		}
	})
}
