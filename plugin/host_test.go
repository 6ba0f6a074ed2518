package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	real := filepath.Join(t.TempDir(), "real")
	link := real + "-link"
	if err := os.Mkdir(real, 0o755); err != nil {
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
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if got := h.env(t.Context(), p, false).Prefixes[link].Canonical; got != real {
		t.Errorf("%s leads to %q, want %s", link, got, real)
	}
	// What was looked at is, for a moment.
	h.mu.Lock()
	h.prefixesAt = time.Now().Add(time.Hour)
	h.mu.Unlock()
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if got := h.env(t.Context(), p, false).Prefixes[link].Canonical; got != real {
		t.Errorf("a moment ago %s led to %s, and now to %q", link, real, got)
	}
	if got, ok := h.env(t.Context(), p, true).Prefixes[link]; ok {
		t.Errorf("a fresh look at what is gone: %+v", got)
	}
}
