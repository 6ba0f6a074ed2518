package facts

import (
	"strings"
	"testing"
)

func TestAnImageHasTheNameThatContainerdGivesIt(t *testing.T) {
	digest := "sha256:" + strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		"busybox":                               "docker.io/library/busybox:latest",
		"busybox:1.36":                          "docker.io/library/busybox:1.36",
		"docker.io/busybox:1.36":                "docker.io/library/busybox:1.36",
		"docker.io/library/busybox":             "docker.io/library/busybox:latest",
		"index.docker.io/library/busybox:1":     "docker.io/library/busybox:1",
		"index.docker.io/busybox":               "docker.io/library/busybox:latest",
		"grafana/loki:3":                        "docker.io/grafana/loki:3",
		"registry.k8s.io/pause:3.10":            "registry.k8s.io/pause:3.10",
		"localhost/x":                           "localhost/x:latest",
		"localhost:5000/x":                      "localhost:5000/x:latest",
		"Registry/x":                            "Registry/x:latest",
		"[::1]:5000/x:2":                        "[::1]:5000/x:2",
		"quay.io/a/b/c_d__e--f.g:T_1.-":         "quay.io/a/b/c_d__e--f.g:T_1.-",
		"busybox@" + digest:                     "docker.io/library/busybox@" + digest,
		"busybox:1.36@" + digest:                "docker.io/library/busybox@" + digest,
		"":                                      "",
		"Busybox":                               "",
		"busybox:":                              "",
		"busybox:a/b:":                          "",
		"busybox@sha256:12":                     "",
		"busybox@":                              "",
		"a//b":                                  "",
		"/a":                                    "",
		"a/":                                    "",
		"a\nb":                                  "",
		"busybox:1\n":                           "",
		strings.Repeat("ab", 32):                "",
		strings.Repeat("a", 256):                "",
		"a.example/x___y":                       "",
		"-a.example/x":                          "",
		"docker.io/" + strings.Repeat("a", 250): "",
		"busybox:" + strings.Repeat("a", 128):   "docker.io/library/busybox:" + strings.Repeat("a", 128),
		"busybox:" + strings.Repeat("a", 129):   "",
	} {
		image, ok := ParseImage(text)
		got := ""
		if ok {
			got = image.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzParseImage: a name is its own, and of one line.
func FuzzParseImage(f *testing.F) {
	for _, seed := range []string{"busybox", "a.b:5/c/d:e", "index.docker.io/x", "x@sha256:" + strings.Repeat("0", 64), "[::1]/x", "docker.io/library/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		image, ok := ParseImage(text)
		if !ok {
			return
		}
		name := image.String()
		again, ok := ParseImage(name)
		if !ok || again != image || strings.ContainsAny(name, " \n\x1b*[{\\") && !strings.HasPrefix(name, "[") || (image.Tag == "") == (image.Digest == "") {
			t.Errorf("%q is %q, which is %+v, %t", text, name, again, ok)
		}
	})
}
