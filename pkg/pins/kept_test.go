package pins

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// countedTables counts the readings.
type countedTables struct {
	Tables
	read atomic.Int64
}

func (c *countedTables) Table(ctx context.Context, n *namespaces.Namespace) (*hostview.Table, error) {
	c.read.Add(1)
	return c.Tables.Table(ctx, n)
}

// What the census has read already is not read again to find a holder, and all
// is read again before it is said that there is none.
func TestTheTablesOfTheCensusAreTheFirstReading(t *testing.T) {
	v := newVolume(t)
	p := start(t, "private")
	var counted *countedTables
	var all int64
	look := func() Report {
		t.Helper()
		return find(t, v.number.String(), func(n *Node) {
			census, err := namespaces.Take(t.Context(), namespaces.Options{Rung: namespaces.RungProc})
			if err != nil {
				t.Fatal(err)
			}
			counted = &countedTables{Tables: census}
			n.Census, n.Tables = census, counted
			all = 0
			for _, ns := range census.Namespaces {
				if _, ok := census.Kept(ns); ok {
					all++
				}
			}
		})
	}
	// Others come and go on this machine: one look in which they do not is enough.
	calm := func(good func(Report) bool) {
		t.Helper()
		for i := 0; ; i++ {
			r := look()
			if good(r) {
				return
			}
			if i == 50 {
				t.Fatalf("%d readings of %d tables for %q", counted.read.Load(), all, told(r))
			}
		}
	}
	// Our own child has just started, and may be looked at again for that.
	calm(func(r Report) bool { return len(r.Holders) == 2 && counted.read.Load() <= 1 && all >= 2 })
	p.End()
	v.unmount(t)
	calm(func(r Report) bool { return len(r.Holders) == 0 && counted.read.Load() >= all })
}
