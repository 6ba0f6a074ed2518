package apply

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestLowering: before it a mount of the container reaches the host, after it
// none does; whether the host's reach the container is what was decided.
func TestLowering(t *testing.T) {
	for _, test := range []struct {
		name    string
		decided facts.Propagation
		follows bool
	}{
		{"to rslave", facts.Slave, true},
		{"to rprivate", facts.Private, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			n.mount(t, n.shared+"/early")
			c := n.run(t, nil, "rshared", n.shared+":/data:rshared")
			c.mountInside(t, "/data/before")
			if !n.mounted(t, n.shared+"/before") {
				t.Fatal("the container's mount is not shared with the host: there is nothing to lower")
			}
			r := apply(t, c.request(t, n.deferred(t, n.shared, "/data", facts.Shared, test.decided)))
			if o := r.Outcomes[0]; o.Result != facts.Applied || o.Decided != test.decided || r.Refusal != nil || !r.Settled {
				t.Errorf("outcome %+v, refusal %v", o, r.Refusal)
			}
			c.mountInside(t, "/data/after")
			c.mountInside(t, "/data/early/after")
			if n.mounted(t, n.shared+"/after") || n.mounted(t, n.shared+"/early/after") {
				t.Error("a mount of the container still reaches the host")
			}
			n.mount(t, n.shared+"/later")
			n.mount(t, n.shared+"/early/later")
			if c.has(t, "/data/later") != test.follows || c.has(t, "/data/early/later") != test.follows {
				t.Errorf("later mounts of the host arrive: %t and %t, want %t", c.has(t, "/data/later"), c.has(t, "/data/early/later"), test.follows)
			}
		})
	}
}

// TestLoweringBesideAnotherAskedMount: what is asked for below is none of ours.
func TestLoweringBesideAnotherAskedMount(t *testing.T) {
	n := newNode(t)
	n.mount(t, n.shared+"/early")
	n.mount(t, n.shared+"/sub")
	c := n.run(t, nil, "rshared", n.shared+":/data:rshared", n.shared+"/sub:/data/sub:rshared")
	r := apply(t, c.request(t,
		n.deferred(t, n.shared, "/data", facts.Shared, facts.Private), n.other(t, n.shared+"/sub", "/data/sub", facts.Shared)))
	if o := r.Outcomes[0]; o.Result != facts.Applied {
		t.Errorf("outcome %+v", o)
	}
	for point, shared := range map[string]bool{"/data": false, "/data/early": false, "/data/sub": true} {
		if e := c.at(t, point); e.State.Shared() != shared {
			t.Errorf("%s is %s", point, e.State)
		}
	}
}

// TestRaising: the host's mounts arrive, those from before as well, and none of
// the container's reaches the host.
func TestRaising(t *testing.T) {
	for _, propagation := range []string{"rslave", "rshared"} { // of the root file system
		t.Run("beside rootfsPropagation="+propagation, func(t *testing.T) {
			n := newNode(t)
			n.mount(t, n.shared+"/early")
			c := n.run(t, nil, propagation, n.shared+":/data:rprivate")
			n.mount(t, n.shared+"/between")
			n.mount(t, n.shared+"/between/deep")
			n.mount(t, n.shared+"/early/between")
			if c.has(t, "/data/between") {
				t.Fatal("it follows the host before it was raised")
			}
			r := apply(t, c.request(t, n.deferred(t, n.shared, "/data", facts.Private, facts.Slave)))
			if o := r.Outcomes[0]; o.Result != facts.Applied || !r.found("namespace-applied") || !r.found("submount-added") || r.found("submount-left") {
				t.Errorf("outcome %+v", o)
			}
			host, err := n.view.Lookup(t.Context(), n.shared)
			must(t, err)
			if e := c.at(t, "/data"); e.State != (facts.MountState{Master: host.State.Peer}) {
				t.Errorf("/data is %s, the host's is %s", e.State, host.State)
			}
			n.mount(t, n.shared+"/later")
			n.mount(t, n.shared+"/early/later")
			n.mount(t, n.shared+"/between/later")
			for _, point := range []string{"between", "between/deep", "early/between", "later", "early/later", "between/later"} {
				if !c.has(t, "/data/"+point) {
					t.Errorf("the container has no %s", point)
				}
			}
			c.mountInside(t, "/data/inside")
			c.mountInside(t, "/data/early/inside")
			c.mountInside(t, "/data/between/inside")
			if n.mounted(t, n.shared+"/inside") || n.mounted(t, n.shared+"/early/inside") || n.mounted(t, n.shared+"/between/inside") {
				t.Error("a mount of the container reaches the host")
			}
			// Once more is nothing to do and no error.
			r = apply(t, c.request(t, n.deferred(t, n.shared, "/data", facts.Private, facts.Slave)))
			if o := r.Outcomes[0]; o.Result != facts.Applied || len(r.Findings) != 0 {
				t.Errorf("the second time: %+v, %+v", o, r.Findings)
			}
		})
	}
}

// TestRaisingADirectoryAndAFile below the host's mount.
func TestRaisingADirectoryAndAFile(t *testing.T) {
	n := newNode(t)
	n.mkfile(t, n.shared+"/dir/file")
	n.mkfile(t, n.rootfs+"/file")
	c := n.run(t, nil, "rslave", n.shared+"/dir:/data:rprivate", n.shared+"/dir/file:/file:rprivate")
	r := apply(t, c.request(t,
		n.deferred(t, n.shared+"/dir", "/data", facts.Private, facts.Slave),
		n.deferred(t, n.shared+"/dir/file", "/file", facts.Private, facts.Slave)))
	for i, point := range []string{"/data", "/file"} {
		if e := c.at(t, point); r.Outcomes[i].Result != facts.Applied || e.State.Master == 0 {
			t.Errorf("%s is %s: %+v", point, e.State, r.Outcomes[i])
		}
	}
	n.mount(t, n.shared+"/dir/later")
	if !c.has(t, "/data/later") {
		t.Error("a later mount does not arrive")
	}
}

// TestNotRaised is T15 and its like: what the kernel would refuse, or what would
// do harm, is found before it is asked, and nothing is changed.
func TestNotRaised(t *testing.T) {
	n := newNode(t)
	n.mount(t, n.shared+"/volume")
	n.mount(t, n.shared+"/conflict/sub")
	for _, test := range []struct {
		name, source string
		mounts       []string
		options      []string
		decided      facts.Propagation
		reason       string
	}{
		{"a private source", n.private, nil, nil, facts.Slave, "its host mount is private"},
		{"a recursively read-only mount", n.shared, nil, []string{"rro"}, facts.Slave, "recursively read-only"},
		{"to rshared", n.shared, nil, nil, facts.Shared, "no mount is raised to rshared"},
		{"the container has another mount where the host has one", n.shared + "/conflict", []string{n.private + ":/data/sub:rprivate"}, nil, facts.Slave, "its unmount there would take the container's away"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := n.run(t, nil, "rslave", append([]string{test.source + ":/data:rprivate"}, test.mounts...)...)
			outcomes := []facts.Outcome{n.deferred(t, test.source, "/data", facts.Private, test.decided, test.options...)}
			if test.mounts != nil {
				outcomes = append(outcomes, n.other(t, n.private, "/data/sub", facts.Private))
			}
			before := c.text(t)
			r := apply(t, c.request(t, outcomes...))
			o := r.Outcomes[0]
			if o.Result != facts.Left || o.Decided != facts.Private || o.Wanted != test.decided || r.Refusal != nil || !contains(o.Reason, test.reason) {
				t.Errorf("outcome %+v, want it left: %s", o, test.reason)
			}
			if after := c.text(t); after != before {
				t.Errorf("changed from\n%s\nto\n%s", before, after)
			}
			outcomes[0].Required = true
			if r := apply(t, c.request(t, outcomes...)); r.Outcomes[0].Result != facts.Refused || r.Refusal == nil {
				t.Errorf("on_unmet deny: %+v, refusal %v", r.Outcomes[0], r.Refusal)
			}
			static := c.request(t, outcomes...)
			static.NeverRefuse = true
			if r := apply(t, static); r.Outcomes[0].Result != facts.Left || r.Refusal != nil {
				t.Errorf("a static pod: %+v, refusal %v", r.Outcomes[0], r.Refusal)
			}
		})
	}
}

// TestAuditTouchesNothing and says what it would do.
func TestAuditTouchesNothing(t *testing.T) {
	n := newNode(t)
	c := n.run(t, nil, "rshared", n.shared+":/data:rshared")
	before := c.text(t)
	for _, would := range []bool{false, true} { // created in enforce mode, and in audit mode
		o := n.deferred(t, n.shared, "/data", facts.Shared, facts.Private)
		o.Would = would
		r := c.request(t, o)
		r.Enforce = false
		result := apply(t, r)
		if o := result.Outcomes[0]; !o.Would || o.Expected() != facts.Shared || result.Refusal != nil {
			t.Errorf("outcome %+v", o)
		}
		if !would && !result.found("namespace-would") {
			t.Errorf("not said: %+v", result.Findings)
		}
	}
	if after := c.text(t); after != before {
		t.Errorf("changed from\n%s\nto\n%s", before, after)
	}
}
