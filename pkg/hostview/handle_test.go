package hostview

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// unhex is what the kernel answered, as it was written down.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The handles of overlays that Linux 6.18 gave.
const (
	overTmpfs = "00000000fb210401f33d05a673ab4f75af027017a61a5a0b910dafdb0200000000000000"
	overExt4  = "00000000fb1d0401d610ad764b1b497682a28efe5793cac40c00000040668dbd"
	overXFS   = "00000000fb210481473a25641c834d6fa0acee39552bb5f88300000000000000ec42f6d7"
	overBtrfs = "00000000fb29044d44bbfb4df313477eb1b31debd206e6d20101000000000000050000000000000007000000"
	ofLower   = "00000000fb21000183269e9e35b04b998178bb29288b1e132de17bc60400000000000000"
)

func TestTheHandleOfAnOverlayIsThatOfItsUpperDirectory(t *testing.T) {
	for _, test := range []struct {
		name  string
		kind  int32
		text  string
		inner int32 // 0: not the handle of an overlay's file
		fid   string
		uuid  string
		upper bool
	}{
		{"tmpfs", 0xf8, overTmpfs, 1, "910dafdb0200000000000000", "f33d05a673ab4f75af027017a61a5a0b", true},
		{"ext4", 0xf8, overExt4, 1, "0c00000040668dbd", "d610ad764b1b497682a28efe5793cac4", true},
		{"xfs", 0xf8, overXFS, 0x81, "8300000000000000ec42f6d7", "473a25641c834d6fa0acee39552bb5f8", true},
		{"btrfs", 0xf8, overBtrfs, 0x4d, "0101000000000000050000000000000007000000", "44bbfb4df313477eb1b31debd206e6d2", true},
		{"a file of a layer", 0xf8, ofLower, 1, "2de17bc60400000000000000", "83269e9e35b04b998178bb29288b1e13", false},
		{"another type", 1, overExt4, 0, "", "", false},
		{"none", 0xf8, "", 0, "", "", false},
		{"cut short", 0xf8, overExt4[:len(overExt4)-8], 0, "", "", false},
		{"without the handle within", 0xf8, overExt4[:48], 0, "", "", false},
		{"another version", 0xf8, "00000001" + overExt4[8:], 0, "", "", false},
		{"another magic", 0xf8, "00000000fa" + overExt4[10:], 0, "", "", false},
	} {
		inner, err := Handle{Type: test.kind, Bytes: unhex(t, test.text)}.Real()
		if test.inner == 0 {
			if !errors.Is(err, errNoOverlay) {
				t.Errorf("%s: %+v %v", test.name, inner, err)
			}
			continue
		}
		want := Real{Handle: Handle{Type: test.inner, Bytes: unhex(t, test.fid)}, Upper: test.upper, UUID: [16]byte(unhex(t, test.uuid))}
		if diff := cmp.Diff(want, inner); diff != "" || err != nil {
			t.Errorf("%s: %v %s", test.name, err, diff)
		}
	}
}

func FuzzOverlayHandle(f *testing.F) {
	for _, seed := range []string{overTmpfs, overExt4, overXFS, overBtrfs, ofLower} {
		f.Add(int32(overlayType), unhex(f, seed))
	}
	f.Fuzz(func(t *testing.T, kind int32, text []byte) {
		inner, err := Handle{Type: kind, Bytes: text}.Real()
		if err != nil {
			return
		}
		if kind != overlayType || len(inner.Bytes) == 0 || len(inner.Bytes)+overlayFID != len(text) {
			t.Errorf("%#x %x: %+v", kind, text, inner)
		}
	})
}

func handleOf(t *testing.T, v *View, path string) Handle {
	t.Helper()
	h, err := v.Handle(context.Background(), path)
	if errors.Is(err, ErrNoHandle) {
		t.Skip("needs root and Linux 6.6 or later: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestARealOverlayHasTheHandleOfItsUpperDirectory(t *testing.T) {
	dir := stage(t)
	v := openView(t, Options{})
	for _, name := range []string{"upper", "work", "lower/below", "over", "other"} {
		mkdir(t, dir+"/"+name)
	}
	mount(t, "overlay", dir+"/over", "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", dir))
	t.Cleanup(func() { detach(t, dir+"/over") })
	inner, err := handleOf(t, v, dir+"/over").Real()
	if err != nil || !inner.Upper {
		t.Fatalf("%+v %v", inner, err)
	}
	if upper := handleOf(t, v, dir+"/upper"); !upper.Equal(inner.Handle) {
		t.Errorf("the upper directory is %+v, the overlay says %+v", upper, inner)
	}
	if other := handleOf(t, v, dir+"/other"); other.Equal(inner.Handle) {
		t.Errorf("another directory: %+v", other)
	}
	if inner, err := handleOf(t, v, dir+"/over/below").Real(); err != nil || inner.Upper {
		t.Errorf("what is in a layer only: %+v %v", inner, err)
	}
	if inner, err := handleOf(t, v, dir+"/upper").Real(); err == nil {
		t.Errorf("a directory of tmpfs: %+v", inner)
	}
}

// The mount point itself need not be asked for its handle.
func TestAHandleThatIsNotAnsweredIsLeftBehind(t *testing.T) {
	dir := stage(t)
	hungMount(t, mkdir(t, dir+"/hung"))
	v := openView(t, Options{Wait: 50 * time.Millisecond})
	within(t, 20*time.Second, "a handle", func() {
		_, err := v.Handle(context.Background(), dir+"/hung/child")
		refused(t, "a child", err, "did not answer in 50ms")
		_, err = v.Handle(context.Background(), dir+"/hung/child")
		refused(t, "once more", err, errStuck.Error())
		_, err = v.Handle(context.Background(), dir+"/absent")
		refused(t, "what is not there", err, "no such file")
	})
}
