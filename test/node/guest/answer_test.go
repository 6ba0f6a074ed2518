//go:build linux

package guest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// answer is what "mountward volumes -o json" prints, as far as it is tested.
// The names are written down here once more: other programs read them.
type answer struct {
	Schema  string
	Targets []target
	Tasks   []any
	Marks   []any
	Unknown []any
}

// target is a path, device or volume that was asked for.
type target struct {
	Target  string
	Why     string
	Mount   hostMount
	Storage storage
}

type hostMount struct {
	Canonical  string
	MountPoint string `json:"mount_point"`
	Device     string
	Root       string
	FSType     string `json:"fs_type"`
	Source     string
}

// storage is what a file system or a device is stored on.
type storage struct {
	Device  string
	FSType  string `json:"fs_type"`
	Layers  []layer
	Tops    int
	Unknown string
	NoLV    string `json:"no_lv"`
}

type layer struct {
	Device  string
	Name    string
	Kind    string
	DMName  string `json:"dm_name"`
	DMUUID  string `json:"dm_uuid"`
	LV      *logicalVolume
	Part    string
	Lower   []string
	Note    string
	Unknown string
}

type logicalVolume struct {
	VG, LV, UUID string
	VGUUID       string `json:"vg_uuid"`
}

func (l *logicalVolume) String() string { return l.VG + "/" + l.LV }

// volumes is what "mountward volumes ARG..." prints. On a machine as slow as an
// emulated one a path can take too long once; not again and again.
func volumes(t *testing.T, args ...string) answer {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		a, err := tryVolumes(args...)
		if err == nil {
			return a
		}
		if !strings.Contains(err.Error(), "did not answer in") || time.Now().After(end) {
			t.Fatal(err)
		}
		t.Logf("once more: %s", lastLine(err.Error()))
	}
}

// tryVolumes returns what is printed also where that is not all there is, with
// an error then.
func tryVolumes(args ...string) (answer, error) {
	var a answer
	out, err := run("/usr/bin/mountward", append([]string{"volumes", "-o", "json"}, args...)...)
	if failed := json.Unmarshal([]byte(out), &a); failed != nil && err == nil {
		err = failed
	}
	return a, err
}

// targetOf is the one target that a question has.
func targetOf(t *testing.T, args ...string) target {
	t.Helper()
	a := volumes(t, args...)
	if a.Schema != "mountward.volumes/v1" || len(a.Targets) != 1 {
		t.Fatalf("mountward volumes %s: schema %q and %d targets, want mountward.volumes/v1 and 1", strings.Join(args, " "), a.Schema, len(a.Targets))
	}
	return a.Targets[0]
}

// layer is the one with a device number.
func (s storage) layer(number string) *layer {
	for i := range s.Layers {
		if s.Layers[i].Device == number {
			return &s.Layers[i]
		}
	}
	return nil
}
