package device

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// The cold reading of a thin volume is of six devices; of a cached one only the
// count of events is read.
func BenchmarkThinVolume(b *testing.B) {
	f := newFixture(b, thin)
	f.announce(b, 1)
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		sys := f.FS()
		for b.Loop() {
			if c, err := sys.Chain(number(253, 5)); err != nil || c.LV() == nil {
				b.Fatal(c, err)
			}
		}
	})
	b.Run("cached", func(b *testing.B) {
		b.ReportAllocs()
		cache := NewCache(f.FS(), 64)
		for b.Loop() {
			if c, err := cache.Chain(number(253, 5)); err != nil || c.LV() == nil {
				b.Fatal(c, err)
			}
		}
	})
}

// The twelve mounts of a start: with the count of events read for each chain,
// and once for all.
func BenchmarkTwelveMounts(b *testing.B) {
	f := newFixture(b, thin)
	f.announce(b, 1)
	cache := NewCache(f.FS(), 64)
	chains := func(b *testing.B, resolver interface {
		Chain(facts.DeviceNumber) (Chain, error)
	},
	) {
		for range 12 {
			if c, err := resolver.Chain(number(253, 5)); err != nil || c.LV() == nil {
				b.Fatal(c, err)
			}
		}
	}
	b.Run("cache", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			chains(b, cache)
		}
	})
	b.Run("moment", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			chains(b, cache.Moment())
		}
	})
}
