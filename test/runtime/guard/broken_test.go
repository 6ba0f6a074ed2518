//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestConnectionsThatBreakWhileTheyAreMade is T4 and T5: a connection that ends
// before it is registered, or between RegisterPlugin and Configure, or stays
// there for good, is followed by another one, on which containers are decided;
// and nothing is left of it.
func TestConnectionsThatBreakWhileTheyAreMade(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	s := newService(t, ward.Options{Policy: matrix.Policy, Config: harness.Config{NoLaunch: true}})
	wire := wireTo(t, s.NRISocket, filepath.Join(s.Dir, "wire.sock"))
	s.NRISocket = wire.path
	s.launch()
	s.says(0, ward.Synchronized)
	descriptors := func() int {
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	s.settled()
	before := descriptors()

	for _, test := range []struct {
		name   string
		breaks way
		said   string
	}{
		{"ends before it is registered", cut, "no connection to the runtime"},
		{"ends before the configuration", cutAtConfigure, "not configured by the runtime before the connection ended"},
		{"is never configured", stillAtConfigure, "not configured by the runtime for 15s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			from := s.records()
			// More than one may break: where the end overtakes the answer, the
			// stub has not been registered.
			wire.breakAll(test.breaks)
			s.says(from, test.said)
			wire.mend()
			s.says(from, ward.Synchronized)
			c := one(dir.Path)
			c.Namespace = "set-rslave"
			if got := s.Table(s.runOne(c)).At("/data").Propagation(); got != "private,slave" {
				t.Errorf("/data is %s, want it raised", got)
			}
		})
	}
	for end := time.Now().Add(time.Minute); descriptors() > before; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d descriptors are open, before it were %d", descriptors(), before)
		}
	}
}
