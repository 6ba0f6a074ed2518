package overlay

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpperDirectory has values as Linux 6.18 shows them: octal escapes above,
// what was given at mount time below.
func TestUpperDirectory(t *testing.T) {
	const rest = ",workdir=/w,uuid=on"
	tests := []struct{ options, want string }{
		{`rw,lowerdir=/l,upperdir=/u/plain` + rest, "/u/plain"},
		{`rw,lowerdir=/l,upperdir=/u/sp\040ace` + rest, "/u/sp ace"},
		{`rw,lowerdir=/l,upperdir=/u/com\134\054ma` + rest, "/u/com,ma"},
		{`rw,lowerdir=/l,upperdir=/u/com\054ma` + rest, "/u/com,ma"}, // by fsconfig(2)
		{`rw,lowerdir=/l,upperdir=/u/co:lon` + rest, "/u/co:lon"},
		{`rw,lowerdir=/l,upperdir=/u/co\134:lon` + rest, "/u/co:lon"},
		{`rw,lowerdir=/l,upperdir=/u/back\134\134slash` + rest, `/u/back\slash`},
		{`rw,lowerdir=/l,upperdir=/u/new\012line` + rest, "/u/new\nline"},
		{`rw,lowerdir=/l,upperdir=/u/eq=ual` + rest, "/u/eq=ual"},
		{"rw,lowerdir=/l,upperdir=/u/\xff" + rest, "/u/\xff"},
		{`rw,lowerdir=/l\054upperdir=/forged,upperdir=/u` + rest, "/u"},
		{`rw,lowerdir=/l` + rest, ""},
		{`rw,xupperdir=/u`, ""},
		{`rw,upperdir=`, ""},
		{`rw,upperdir`, ""},
		{`rw,upperdir=/u\`, `/u\`},
		{`rw,upperdir=/u\9x\08`, `/u9x08`}, // no escape of the kernel's
		{``, ""},
	}
	for _, test := range tests {
		if got := Parse(test.options).Upper; got != test.want {
			t.Errorf("%q: upperdir = %q, want %q", test.options, got, test.want)
		}
	}
}

// TestLowerDirectories has lines of Linux 6.18 as well.
func TestLowerDirectories(t *testing.T) {
	tests := []struct {
		options string
		want    []string
	}{
		{`rw,lowerdir=/t/a\134:b:/t/c\040d,upperdir=/t/u,workdir=/t/w,uuid=on`, []string{"/t/a:b", "/t/c d"}},
		{`ro,lowerdir=/t/e\134\054f:/t/g\134\134h,redirect_dir=on`, []string{"/t/e,f", `/t/g\h`}},
		{`ro,lowerdir=/t/d1::/t/d2,redirect_dir=on,metacopy=on`, []string{"/t/d1", "/t/d2"}},
		{`ro,lowerdir+=/t/a:b,lowerdir+=/t/c\040d,lowerdir+=/t/g\134h,datadir+=/t/d2,redirect_dir=on`, []string{"/t/a:b", "/t/c d", `/t/g\h`, "/t/d2"}},
		{`rw,lowerdir=12/fs:11/fs`, []string{"12/fs", "11/fs"}},
		{`rw,lowerdir=`, nil},
		{`rw,lowerdir=:`, nil},
		{`rw,lowerdir=/a\134`, []string{`/a\`}},
		{`rw`, nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, Parse(test.options).Lower); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.options, diff)
		}
	}
}

var (
	given  = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `:`, `\:`)
	kernel = strings.NewReplacer(`\`, `\134`, `,`, `\054`, ` `, `\040`, "\t", `\011`, "\n", `\012`)
)

// FuzzLayers: whatever a directory is called, it is read as that and changes
// nothing of the others.
func FuzzLayers(f *testing.F) {
	f.Add("/u/plain", "/l/other")
	f.Add("/a,b:c\\d \t\n=\xff", `\134:`)
	f.Fuzz(func(t *testing.T, a, b string) {
		_ = Parse(a)
		options := "rw,lowerdir=" + kernel.Replace(given.Replace(a)+":"+given.Replace(b)) +
			",lowerdir+=" + kernel.Replace(a) + ",upperdir=" + kernel.Replace(given.Replace(b)) + ",workdir=/w"
		got := Parse(options)
		want := Layers{Upper: b, Work: "/w", Lower: []string{a, b, a}}
		want.Lower = slices.DeleteFunc(want.Lower[:2], func(s string) bool { return s == "" })
		want.Lower = append(want.Lower, a)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", options, diff)
		}
	})
}
