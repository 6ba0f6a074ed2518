package hostview

import (
	"bytes"
	"context"
	"fmt"
	"syscall"
	"testing"
)

func BenchmarkReadTable(b *testing.B) {
	for _, n := range []int{100, 50_000} {
		text := bigTable(n)
		b.Run(fmt.Sprintf("mounts=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadTable(bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCovering(b *testing.B) {
	for _, n := range []int{100, 50_000} {
		table, err := ReadTable(bytes.NewReader(bigTable(n)))
		if err != nil {
			b.Fatal(err)
		}
		e, _ := table.ByID(100 + n/2)
		b.Run(fmt.Sprintf("mounts=%d", n), func(b *testing.B) {
			for b.Loop() {
				table.Covering(e.MountPoint)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{100, 50_000} {
		dir := stage(b)
		for i := range n {
			at := mkdir(b, fmt.Sprintf("%s/%d/%d", dir, i%256, i))
			if err := syscall.Mount(dir+"/0", at, "", syscall.MS_BIND, ""); err != nil {
				b.Fatal(err)
			}
		}
		path := fmt.Sprintf("%s/%d/%d", dir, 99%256, 99)
		for _, rung := range []string{RungStatmount, RungMountinfo} {
			v := openView(b, Options{Rung: rung})
			b.Run(fmt.Sprintf("rung=%s/mounts=%d", rung, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := v.Lookup(context.Background(), path); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		detach(b, dir)
	}
}
