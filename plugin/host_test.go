package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/policy"
)

// TestPathsThatWereNotLookedAtAreNotRemembered: a request whose time is over knows
// less of the host than the next one may rely on.
func TestPathsThatWereNotLookedAtAreNotRemembered(t *testing.T) {
	n := newNode(t, auditing, "")
	d := n.daemon()
	d.start("")
	view, err := hostview.Open(hostview.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	target := filepath.Join(t.TempDir(), "target")
	link := target + "-link"
	if err := os.Mkdir(target, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(policy.File{Name: "p", Data: []byte("version = 1\nmode = \"audit\"\ndefault = \"allow\"\n[[rule]]\nname = \"a\"\nmatch.source = [\"" + link + "/**\"]\naction = \"deny\"\nreason = \"x\"\n")})
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(view, d)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	h.env(over, p, false)
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	if got := h.env(t.Context(), p, false).Prefixes[link].Canonical; got != target {
		t.Errorf("%s leads to %q, want %s", link, got, target)
	}
	// What was looked at is, for a moment.
	h.mu.Lock()
	h.prefixesAt = time.Now().Add(time.Hour)
	h.mu.Unlock()
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if got := h.env(t.Context(), p, false).Prefixes[link].Canonical; got != target {
		t.Errorf("a moment ago %s led to %s, and now to %q", link, target, got)
	}
	if got, ok := h.env(t.Context(), p, true).Prefixes[link]; ok {
		t.Errorf("a fresh look at what is gone: %+v", got)
	}
}

// TestAnOlderLookReplacesNoNewerOne: one that a server held up can end last.
func TestAnOlderLookReplacesNoNewerOne(t *testing.T) {
	h, p := new(host), new(policy.Policy)
	older := time.Now()
	newer := older.Add(time.Second)
	h.keep(p, map[string]facts.HostMount{"/newer": {}}, newer)
	h.keep(p, map[string]facts.HostMount{"/older": {}}, older)
	if _, ok := h.kept(p)["/newer"]; !ok {
		t.Errorf("kept %v", h.kept(p))
	}
	if got := h.kept(new(policy.Policy)); got != nil {
		t.Errorf("of another policy: %v", got)
	}
}
