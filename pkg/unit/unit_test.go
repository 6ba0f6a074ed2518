package unit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// files are unit files by path; "-> " is a symbolic link.
type files map[string]string

var errDenied = errors.New("permission denied")

func (f files) Canonical(_ context.Context, p string) (string, error) {
	content, ok := f[p]
	if !ok {
		return "", fs.ErrNotExist
	}
	if target, link := strings.CutPrefix(content, "-> "); link {
		return target, nil
	}
	return p, nil
}

func (f files) ReadFile(_ context.Context, p string, _ int) ([]byte, error) {
	switch content, ok := f[p]; {
	case content == "denied":
		return nil, fmt.Errorf("%s: %w", p, errDenied)
	case ok:
		return []byte(content), nil
	default:
		return nil, fs.ErrNotExist
	}
}

func (f files) ReadDir(_ context.Context, p string, _ int) ([]string, error) {
	var names []string
	for file := range f {
		if path.Dir(file) == p {
			names = append(names, path.Base(file))
		}
	}
	if names == nil {
		return nil, fs.ErrNotExist
	}
	slices.Sort(names)
	return names, nil
}

func TestAFileIsReadAsSystemdDoes(t *testing.T) {
	const text = `# a comment
; another
NotInASection=1
[Unit]
Description = two words  
[Service]
ExecStart=/bin/a \
# between
  --flag \
  --last
Pair=ends with two \\
After=x
Empty=
[broken
Key without value
=no key
 Indented = yes
[Install]
WantedBy=a\
`
	var got []string
	for _, s := range Parse("f", []byte(text)) {
		got = append(got, fmt.Sprintf("%d [%s] %s=%s", s.Line, s.Section, s.Key, s.Value))
	}
	want := []string{
		"5 [Unit] Description=two words", "7 [Service] ExecStart=/bin/a  --flag  --last", `11 [Service] Pair=ends with two \\`, "12 [Service] After=x", "13 [Service] Empty=",
		"17 [Service] Indented=yes", "19 [Install] WantedBy=a",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestAUnitIsItsFragmentAndDropIns(t *testing.T) {
	f := files{
		"/usr/lib/systemd/system/a-b@.service":                "[Service]\nUser=base\nExecStart=/old\nBindPaths=/x\n",
		"/lib/systemd/system/a-b@.service":                    "[Service]\nUser=weaker\n",
		"/etc/systemd/system/a-b@1.service.d/20-x.conf":       "[Service]\nExecStart=\nExecStart=/new\n",
		"/run/systemd/system/a-b@1.service.d/20-x.conf":       "[Service]\nUser=hidden by /etc\n",
		"/usr/lib/systemd/system/a-b@.service.d/10-x.conf":    "[Service]\nUser=template\n",
		"/usr/lib/systemd/system/a-.service.d/15-x.conf":      "[Service]\nUser=prefix\n",
		"/usr/lib/systemd/system/service.d/30-x.conf":         "[Service]\nBindPaths=/y\n",
		"/usr/lib/systemd/system/service.d/40-x.txt":          "[Service]\nUser=not read\n",
		"/usr/lib/systemd/system/socket.d/30-x.conf":          "[Service]\nUser=another type\n",
		"/etc/systemd/system/a-b@2.service.d/99-another.conf": "[Service]\nUser=another instance\n",
	}
	u, err := Load(t.Context(), f, "a-b@1.service")
	if err != nil {
		t.Fatal(err)
	}
	if u.Fragment != "/usr/lib/systemd/system/a-b@.service" || u.Masked {
		t.Errorf("fragment %q, masked %v", u.Fragment, u.Masked)
	}
	want := []string{
		"/usr/lib/systemd/system/a-b@.service.d/10-x.conf", "/usr/lib/systemd/system/a-.service.d/15-x.conf",
		"/etc/systemd/system/a-b@1.service.d/20-x.conf", "/usr/lib/systemd/system/service.d/30-x.conf",
	}
	if diff := cmp.Diff(want, u.DropIns); diff != "" {
		t.Errorf("drop-ins (-want +got):\n%s", diff)
	}
	values := func(key string) []string {
		var all []string
		for _, s := range u.Values("Service", key) {
			all = append(all, fmt.Sprintf("%s %s:%d", s.Value, path.Base(s.File), s.Line))
		}
		return all
	}
	if diff := cmp.Diff([]string{"/new 20-x.conf:3"}, values("ExecStart")); diff != "" {
		t.Errorf("ExecStart (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/x a-b@.service:4", "/y 30-x.conf:2"}, values("BindPaths")); diff != "" {
		t.Errorf("BindPaths (-want +got):\n%s", diff)
	}
	if all := values("User"); all[len(all)-1] != "prefix 15-x.conf:2" {
		t.Errorf("User %q", all)
	}
}

func TestWhatIsNoUnit(t *testing.T) {
	for name, tc := range map[string]struct {
		files  files
		masked bool
		absent bool
		err    string
	}{
		"none.service":         {absent: true, err: "read unit none.service"},
		"masked.service":       {files: files{"/etc/systemd/system/masked.service": "-> /dev/null", "/usr/lib/systemd/system/masked.service": "[Service]\nMountFlags=slave\n"}, masked: true},
		"empty.service":        {files: files{"/etc/systemd/system/empty.service": ""}, masked: true},
		"secret.service":       {files: files{"/etc/systemd/system/secret.service": "denied"}, err: "permission denied"},
		"../../etc/shadow":     {err: "not the name of a unit"},
		"a/b.service":          {err: "not the name of a unit"},
		"service":              {err: "not the name of a unit"},
		".service":             {err: "not the name of a unit"},
		"only-dropins.service": {files: files{"/run/systemd/system/only-dropins.service.d/x.conf": "[Service]\nUser=x\n"}},
	} {
		u, err := Load(t.Context(), tc.files, name)
		if u.Masked != tc.masked || errors.Is(err, fs.ErrNotExist) != tc.absent || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: masked %v, %v", name, u.Masked, err)
		}
		if len(u.MountNamespace()) != 0 {
			t.Errorf("%s has options %v", name, u.MountNamespace())
		}
	}
}

func TestWhatMakesAMountNamespace(t *testing.T) {
	for text, want := range map[string][]string{
		"MountFlags=slave":                                {"MountFlags=slave sure MountFlags="},
		"MountFlags=shared":                               {"MountFlags=shared unsure MountFlags="},
		"MountFlags=slave\nMountFlags=":                   nil,
		"PrivateMounts=yes":                               {"PrivateMounts=yes sure PrivateMounts=no"},
		"PrivateMounts=no":                                nil,
		"PrivateMounts=yes\nPrivateMounts=false":          nil,
		"PrivateTmp=true":                                 {"PrivateTmp=true sure PrivateTmp=no"},
		"PrivateTmp=disconnected":                         {"PrivateTmp=disconnected sure PrivateTmp=no"},
		"PrivateTmp=off":                                  nil,
		"PrivateDevices=1":                                {"PrivateDevices=1 sure PrivateDevices=no"},
		"ProtectSystem=full":                              {"ProtectSystem=full sure ProtectSystem=no"},
		"ProtectSystem=no":                                nil,
		"ProtectHome=read-only":                           {"ProtectHome=read-only sure ProtectHome=no"},
		"ProtectKernelTunables=on":                        {"ProtectKernelTunables=on sure ProtectKernelTunables=no"},
		"ProtectKernelModules=yes":                        {"ProtectKernelModules=yes sure ProtectKernelModules=no"},
		"ProtectKernelLogs=yes":                           {"ProtectKernelLogs=yes sure ProtectKernelLogs=no"},
		"ProtectControlGroups=strict":                     {"ProtectControlGroups=strict sure ProtectControlGroups=no"},
		"ProtectProc=default":                             nil,
		"ProtectProc=invisible":                           {"ProtectProc=invisible sure ProtectProc=default"},
		"ProcSubset=all":                                  nil,
		"ProcSubset=pid":                                  {"ProcSubset=pid sure ProcSubset=all"},
		"ReadOnlyPaths=/a\nReadOnlyPaths=/b":              {"ReadOnlyPaths=/a sure ReadOnlyPaths=", "ReadOnlyPaths=/b sure ReadOnlyPaths="},
		"ReadWritePaths=/a":                               {"ReadWritePaths=/a sure ReadWritePaths="},
		"InaccessiblePaths=/a\nInaccessiblePaths=":        nil,
		"TemporaryFileSystem=/a":                          {"TemporaryFileSystem=/a sure TemporaryFileSystem="},
		"BindPaths=/a\nBindReadOnlyPaths=/b":              {"BindPaths=/a sure BindPaths=", "BindReadOnlyPaths=/b sure BindReadOnlyPaths="},
		"RootDirectory=/a":                                {"RootDirectory=/a unsure RootDirectory="},
		"RootImage=/a":                                    {"RootImage=/a sure RootImage="},
		"DynamicUser=yes":                                 {"DynamicUser=yes sure DynamicUser=no"},
		"LogNamespace=x":                                  {"LogNamespace=x sure LogNamespace="},
		"MountImages=/a\nExtensionImages=/b":              {"MountImages=/a sure MountImages=", "ExtensionImages=/b sure ExtensionImages="},
		"PrivateIPC=yes":                                  {"PrivateIPC=yes unsure PrivateIPC=no"},
		"MountAPIVFS=yes\nNoNewPrivileges=yes\nUser=x":    nil,
		"PrivateUsers=yes\nRestrictNamespaces=yes":        nil,
		"[Unit]\nPrivateTmp=yes\n[Service]\nType=notify":  nil,
		"PrivateTmp=yes\n[Install]\nWantedBy=x.service":   {"PrivateTmp=yes sure PrivateTmp=no"},
		"ExecStart=/usr/bin/containerd\nDelegate=yes\n#x": nil,
	} {
		u := Unit{Settings: effective(Parse("f", []byte("[Service]\n"+text+"\n")))}
		var got []string
		for _, o := range u.MountNamespace() {
			sure := "unsure"
			if o.Sure {
				sure = "sure"
			}
			got = append(got, fmt.Sprintf("%s=%s %s %s", o.Key, o.Value, sure, o.Reset))
			if o.File != "f" || o.Line < 2 {
				t.Errorf("%q: at %s:%d", text, o.File, o.Line)
			}
			if again := effective(append(u.Settings, Parse("g", []byte("[Service]\n"+o.Reset+"\n"))...)); slices.ContainsFunc((&Unit{Settings: again}).MountNamespace(), func(p Option) bool { return p.Key == o.Key }) {
				t.Errorf("%s does not take back %s=%s", o.Reset, o.Key, o.Value)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// FuzzParse: what is read stands in the text where it is said to.
func FuzzParse(f *testing.F) {
	f.Add([]byte("[Service]\nExecStart=/bin/a \\\n# x\n b\nMountFlags=slave\n"))
	f.Add([]byte("[A]\r\nb=c\\\\\\\n=\n[]\n;"))
	f.Add([]byte("[Service]\n\\\n\\\nA=\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := strings.Split(string(text), "\n")
		last := 0
		all := Parse("f", text)
		for _, s := range all {
			if s.Line <= last || s.Line > len(lines) {
				t.Fatalf("line %d after %d of %d", s.Line, last, len(lines))
			}
			last = s.Line
			if s.Section == "" || s.Key == "" || strings.ContainsAny(s.Section+s.Key+s.Value, "\n") {
				t.Errorf("setting %+v", s)
			}
			if !bytes.ContainsRune(text, '\\') && !strings.Contains(string(text), "["+s.Section+"]") { // no lines are joined
				t.Errorf("no section of the text: %+v", s)
			}
			if strings.HasPrefix(s.Key, "#") || strings.HasPrefix(s.Key, ";") {
				t.Errorf("a comment is a setting: %+v", s)
			}
		}
		for _, s := range effective(all) {
			if s.Value == "" {
				t.Errorf("empty: %+v", s)
			}
		}
		_ = (&Unit{Settings: effective(all)}).MountNamespace()
	})
}
