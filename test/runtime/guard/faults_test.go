//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// faulty is a guard whose mountward goes wrong as it is told.
func faulty(t *testing.T, o ward.Options) *guard {
	t.Helper()
	binary, err := ward.Faults()
	if err != nil {
		t.Fatal(err)
	}
	o.Binary = binary
	o.Imports = []string{shipped(t)}
	return start(t, o)
}

// fault has a handler go wrong, or none any more.
func (g *guard) fault(line string) {
	g.tb.Helper()
	path := filepath.Join(g.Dir, "run", "fault")
	err := os.Remove(path)
	if line != "" {
		err = os.WriteFile(path, []byte(line+"\n"), 0o600)
	}
	if err != nil {
		g.tb.Fatal(err)
	}
}

// TestFaultsInHandlers: a handler that is too slow (T3) or panics has its answer
// all the same: in enforce mode a readable error, in audit mode and for a static
// pod none. It is recorded, the plugin stays, and the next container is decided
// about.
func TestFaultsInHandlers(t *testing.T) {
	source := harness.TestHostDirs(t).Shared.Path
	for _, mode := range []string{"enforce", "audit"} {
		t.Run(mode, func(t *testing.T) {
			enforce := mode == "enforce"
			g := faulty(t, ward.Options{Policy: strings.Replace(lowering, "enforce", mode, 1)})
			pid := g.plugin()
			for _, handler := range []string{"CreateContainer", "ValidateContainerAdjustment", "StartContainer"} {
				for _, fault := range []string{"panic", "sleep 3s"} {
					g := g.in(t)
					g.fault(handler + " " + fault)
					before := len(mustRecords(t, g.Ward))
					id, err := g.tryOne(unjudged(source))
					switch {
					case !enforce:
						if err != nil {
							t.Errorf("%s %s: %v, want none in audit mode", handler, fault, err)
						}
					case err == nil:
						t.Errorf("%s %s: container %s started", handler, fault, id)
					case !strings.Contains(err.Error(), "mountward: "+handler+" was not decided: "):
						t.Errorf("%s %s: %v, want an error that says what happened", handler, fault, err)
					}
					text := "panicked in " + handler
					if fault != "panic" {
						text = handler + " was answered without a decision: no decision within 1.4s"
					}
					r, err := g.Await(t.Context(), before, func(r ward.Record) bool { return strings.Contains(fmt.Sprint(r), text) })
					if err != nil {
						t.Errorf("%s %s: no record with %q: %v", handler, fault, text, err)
					} else if refused, _ := r.At("refused").(bool); refused != enforce || (r.Event() == "crash") != (fault == "panic") {
						t.Errorf("%s %s: record %s says refused %t: %s", handler, fault, r.Event(), refused, r.Message())
					}
					if enforce {
						static := unjudged(source)
						static.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
						if _, err := g.tryOne(static); err != nil {
							t.Errorf("%s %s: static pod: %v", handler, fault, err)
						}
					}

					g.fault("")
					g.passes(unjudged(source), enforce)
				}
			}
			if now := g.plugin(); now != pid {
				t.Errorf("mountward was process %d and is %d", pid, now)
			}
		})
	}
}
