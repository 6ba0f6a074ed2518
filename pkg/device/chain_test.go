package device

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mountward/mountward/pkg/facts"
)

// TestChain: each file of testdata/chain is one kind of storage. Its comment
// says what must be true, "sysfs" is the node (see fixture), and each "chain
// MAJ:MIN" or "btrfs ID DEVICES" is the whole answer for one file system on it.
func TestChain(t *testing.T) {
	files, err := filepath.Glob("testdata/chain/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) < 2 || archive.Files[0].Name != "sysfs" {
				t.Fatal("want sysfs and at least one chain")
			}
			fixture := newFixture(t, string(archive.Files[0].Data))
			fixture.announce(t, 1)
			cache := NewCache(fixture.FS(), 64)
			for _, want := range archive.Files[1:] {
				got := strings.ReplaceAll(resolve(t, fixture.FS(), want.Name), fixture.sys, "SYS")
				if diff := cmp.Diff(lines(string(want.Data)), lines(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", want.Name, diff)
				}
				for range 2 {
					cached := strings.ReplaceAll(resolve(t, cache, want.Name), fixture.sys, "SYS")
					if diff := cmp.Diff(lines(got), lines(cached)); diff != "" {
						t.Errorf("%s by the cache (-fs +cache):\n%s", want.Name, diff)
					}
				}
			}
		})
	}
}

func lines(text string) []string { return strings.Split(text, "\n") }

func resolve(t *testing.T, from interface {
	Chain(facts.DeviceNumber) (Chain, error)
	Btrfs(string, int) (Chain, error)
}, question string,
) string {
	t.Helper()
	words := strings.Fields(question)
	var c Chain
	var err error
	switch {
	case words[0] == "chain" && len(words) == 2:
		c, err = from.Chain(parse(t, words[1]))
	case words[0] == "btrfs" && len(words) == 3:
		var n int
		if n, err = strconv.Atoi(words[2]); err != nil {
			t.Fatal(err)
		}
		c, err = from.Btrfs(words[1], n)
	default:
		t.Fatalf("question %q", question)
	}
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	return show(c)
}

// show writes a chain as the fixtures have it: a line for each layer, what it
// lies on after "->", its note after "#", what cannot be told after "?"; then
// the volumes, the disks and the answer.
func show(c Chain) string {
	var b strings.Builder
	for i, l := range c.Layers {
		if i < c.Tops {
			b.WriteString("* ")
		} else {
			b.WriteString("  ")
		}
		fmt.Fprintf(&b, "%s %s %s", l.Number, l.Name, l.Kind)
		if l.LV != nil {
			fmt.Fprintf(&b, " %s", l.LV)
		} else if l.DMName != "" {
			fmt.Fprintf(&b, " %q", l.Label())
		}
		if l.Part != "" {
			fmt.Fprintf(&b, " [%s]", l.Part)
		}
		for j, n := range l.Lower {
			if j == 0 {
				b.WriteString(" ->")
			}
			b.WriteString(" " + n.String())
		}
		if l.Note != "" {
			b.WriteString(" # " + l.Note)
		}
		if l.Unknown != "" {
			b.WriteString(" ? " + l.Unknown)
		}
		b.WriteString("\n")
	}
	list := func(name string, words []string) {
		if len(words) > 0 {
			b.WriteString(name + ": " + strings.Join(words, " ") + "\n")
		}
	}
	var lvs, disks []string
	for _, lv := range c.LVs() {
		lvs = append(lvs, lv.String())
	}
	for _, l := range c.Physical() {
		disks = append(disks, l.Name)
	}
	list("volumes", lvs)
	list("physical", disks)
	answer := c.Answer()
	fmt.Fprintf(&b, "%s: %s\n", answer.Truth, answer.Why)
	return b.String()
}
