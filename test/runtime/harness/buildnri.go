//go:build linux

package harness

import (
	"io"
	"path/filepath"
)

// Adaptation builds the runtime's side of NRI, package adaptation, with another
// version of NRI than this module has, such as "0.12.5", for which there is a
// file nri-0.12.5.mod, and returns the program. Like Build it needs the network
// the first time: Main calls both before it isolates the tests.
func Adaptation(w io.Writer, version string) (string, error) {
	module, err := moduleDir()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(module, "bin")
	unlock, err := lock(filepath.Join(bin, ".lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	p := &program{
		module: module, bin: bin, kind: "nri-" + version, inputs: []string{"adaptation"},
		args: []string{"-modfile=" + filepath.Join("adaptation", "nri-"+version+".mod")},
	}
	if version == OldNRI {
		p.args = append(p.args, "-tags=nri_before_0_10")
	}
	dir, err := p.build(w, []string{"./adaptation"}, []string{"CGO_ENABLED=0"})
	return filepath.Join(dir, "adaptation"), err
}

// Versions of NRI that there is an adaptation of.
const (
	OldNRI = "0.8.0"  // of containerd 1.7.26 to 2.1: no validation
	NewNRI = "0.12.5" // of the plugin: failure policies
)
