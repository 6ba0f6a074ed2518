package device

import "testing"

// The cold reading of a thin volume is of six devices; of a cached one only the
// count of events is read.
func BenchmarkThinVolume(b *testing.B) {
	f := newFixture(b, thin)
	f.announce(b, 1)
	b.Run("cold", func(b *testing.B) {
		sys := f.FS()
		for b.Loop() {
			if c, err := sys.Chain(number(253, 5)); err != nil || c.LV() == nil {
				b.Fatal(c, err)
			}
		}
	})
	b.Run("cached", func(b *testing.B) {
		cache := NewCache(f.FS(), 64)
		for b.Loop() {
			if c, err := cache.Chain(number(253, 5)); err != nil || c.LV() == nil {
				b.Fatal(c, err)
			}
		}
	})
}
