package discover

import (
	"path"
	"slices"
	"strings"
)

// DefaultKubeletRoot is the kubelet's --root-dir where none is given.
const DefaultKubeletRoot = "/var/lib/kubelet"

const (
	microk8sCommon = "/var/snap/microk8s/common"
	microk8sRoot   = microk8sCommon + "/var/lib/kubelet"
	k0sData        = "/var/lib/k0s"
)

// rootFlag is what a command line says of the root of the kubelet it runs.
type rootFlag struct {
	value    string // the last root-dir, as the kubelet takes it
	given    bool
	fallback string // where none is given
	certain  bool   // nothing but the command line can give it
	argsFile string // has more arguments, one a line; MicroK8s
	yaml     string // has more arguments, see rootInYAML; k3s and rke2
}

// rootDirectory reads a command line; runs says whether it runs a kubelet.
//
// Source: cmd/kubelet of kubernetes; k3s and rke2, which pass --kubelet-arg on
// and write a title over their arguments ("/usr/local/bin/k3s server"); k0s,
// which starts a kubelet of its own and has no standard root; MicroK8s, whose
// kubelite reads a file of arguments; hyperkube, which was the kubelet of
// Kubernetes up to 1.18.
func rootDirectory(args []string) (f rootFlag, runs bool) {
	if len(args) == 0 {
		return f, false
	}
	program, title, titled := strings.Cut(path.Base(args[0]), " ")
	f.fallback = DefaultKubeletRoot
	switch program {
	case "kubelet":
		f.certain = true
		f.value, f.given = flag(args[1:], "root-dir", anyValue)
		return f, true
	case "hyperkube":
		if len(args) < 2 || args[1] != "kubelet" {
			return f, false
		}
		f.certain = true
		f.value, f.given = flag(args[2:], "root-dir", anyValue)
		return f, true
	case "k3s", "rke2":
		f.yaml = "/etc/rancher/" + program + "/config.yaml"
		if config := first(args[1:], "config", "c"); path.IsAbs(config) {
			f.yaml = config
		}
		if titled && (title == "server" || title == "agent") {
			return f, true
		}
		f.value, f.given = flag(args[1:], "kubelet-arg", rootArgument)
		return f, f.given || slices.Contains(args, "server") || slices.Contains(args, "agent")
	case "k0s":
		f.fallback = k0sData + "/kubelet"
		if data := first(args[1:], "data-dir"); path.IsAbs(data) {
			f.fallback = path.Join(data, "kubelet")
		}
		if f.value, f.given = flag(args[1:], "kubelet-root-dir", anyValue); !f.given {
			f.value, f.given = flag(args[1:], "kubelet-extra-args", rootArgument)
		}
		controller := slices.Contains(args, "controller") && (slices.Contains(args, "--enable-worker") || slices.Contains(args, "--single"))
		return f, f.given || controller || slices.Contains(args, "worker")
	case "kubelite":
		f.fallback = microk8sRoot
		f.argsFile = first(args[1:], "kubelet-args-file")
		return f, true
	}
	return f, false
}

// rootArgument finds the root among the kubelet's arguments in one string.
func rootArgument(text string) (string, bool) {
	words := strings.Fields(text)
	for i, word := range words {
		if !strings.HasPrefix(word, "-") {
			words[i] = "--" + word // k3s takes them without dashes
		}
	}
	return flag(words, "root-dir", func(v string) (string, bool) { return v, v != "" })
}

// rootInFile finds the root in a file of arguments, as MicroK8s has it.
func rootInFile(text string) (string, bool) {
	var words []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "#") {
			words = append(words, strings.Fields(line)...)
		}
	}
	v, ok := flag(words, "root-dir", anyValue)
	for variable, value := range map[string]string{"SNAP_COMMON": microk8sCommon, "SNAP_DATA": "/var/snap/microk8s/current"} {
		v = strings.ReplaceAll(v, "${"+variable+"}", value)
	}
	return strings.Trim(v, `"'`), ok
}
