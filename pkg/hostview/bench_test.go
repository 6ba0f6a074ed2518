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

// A node of 50,000 mounts, asked about 500 tasks with 12 mounts each.
func BenchmarkByDevice(b *testing.B) {
	const mounts, tasks, each = 50_000, 500, 12
	table, err := ReadTable(bytes.NewReader(bigTable(mounts)))
	if err != nil {
		b.Fatal(err)
	}
	var asked []Entry
	for i := range tasks * each {
		e, _ := table.ByID(100 + i*(mounts/(tasks*each)))
		asked = append(asked, e)
	}
	one := asked[len(asked)/2]
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(table.ByDevice(one.Device)) == 0 {
				b.Fatal("none")
			}
		}
	})
	b.Run("showing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			table.Showing(one.Identity(), 16)
		}
	})
	b.Run("survey", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, e := range asked {
				table.Showing(e.Identity(), 16)
			}
		}
	})
}

func BenchmarkAsk(b *testing.B) {
	dir := stage(b)
	write(b, dir+"/file", 200)
	v := openView(b, Options{})
	ctx := context.Background()
	for name, ask := range map[string]func() error{
		"ReadFile": func() error { _, err := v.ReadFile(ctx, dir+"/file", 4096); return err },
		"ReadDir":  func() error { _, err := v.ReadDir(ctx, dir, 10); return err },
		"Statfs":   func() error { _, err := v.Statfs(ctx, dir); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
