package discover

import (
	"context"
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// KubeletRoot finds the kubelet's root directory by command lines alone, as the
// daemon does, and else returns the default. found says that there is a process
// that runs a kubelet, with or without a root-dir; evidence says how the root
// was found and what was passed over. Files are not read. Only root's processes
// count: what a policy calls ${kubelet_root} is not for others to say.
//
// A kubelet's command line can hang: do not wait for the answer.
func KubeletRoot(proc string) (root, evidence string, found bool) {
	procs := scan(context.Background(), proc, 0)
	procs.passForeign(0)
	r := chooseRoot(procs.kubelets, nil)
	passed := append(append(procs.errs, procs.passedKubelets...), r.passed...)
	if r.evidence == "" {
		r.root, r.evidence = DefaultKubeletRoot, "default"
	}
	return r.root, evidenceOf(r.evidence, passed), r.process.pid != 0
}

// choice is the root by the command lines.
type choice struct {
	process  process // zero: no process runs a kubelet
	root     string
	given    bool
	from     string // FromProcess, or FromConfig
	evidence string // "" where no process runs a kubelet
	passed   []string
	others   []Source // other roots that are claimed
}

// chooseRoot takes the first root that is given, else that of the first process
// that runs a kubelet without one. files may be nil.
func chooseRoot(all []process, files *reader) choice {
	var c choice
	var defaults []Source
	for _, p := range all {
		f, runs := rootDirectory(p.args)
		if !runs {
			continue
		}
		var at string
		if !f.given && f.yaml != "" && files != nil {
			var passed []string
			f.value, at, passed = files.rootOfRancher(f.yaml)
			c.passed = append(c.passed, passed...)
		}
		if !f.given && f.argsFile != "" && files != nil {
			text, err := files.file(f.argsFile)
			if err != nil {
				c.passed = append(c.passed, fmt.Sprintf("%s: %v", p, err))
			}
			f.value, f.given = rootInFile(text)
		}
		if !f.given && f.certain {
			defaults = append(defaults, Source{FromProcess, f.fallback, "default of " + p.String()})
		}
		clean, absolute := facts.CleanAbs(f.value)
		switch {
		case f.given && !absolute:
			c.passed = append(c.passed, fmt.Sprintf("%s has root-dir %q, which is not absolute", p, f.value))
		case f.given && !c.given:
			c.process, c.root, c.given, c.from, c.evidence = p, clean, true, FromProcess, "root-dir of "+p.String()
		case f.given && clean != c.root:
			c.others = append(c.others, Source{FromProcess, clean, "root-dir of " + p.String()})
		case c.evidence != "":
		case at != "":
			c.process, c.root, c.from, c.evidence = p, clean, FromConfig, at+" for "+p.String()
		default:
			c.process, c.root, c.from, c.evidence = p, f.fallback, FromProcess, "default of "+p.String()
		}
	}
	for _, d := range defaults {
		if d.Value != c.root {
			c.others = append(c.others, d)
		}
	}
	return c
}

func evidenceOf(found string, passed []string) string {
	if len(passed) == 0 {
		return found
	}
	return found + "; passed over: " + strings.Join(passed, "; ")
}
