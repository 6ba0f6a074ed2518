package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/runtimeconf"
)

// dropInName is late among the drop-ins, so that it holds.
const dropInName = "50-mountward.toml"

// dropIn is the fix that sets lines of a table in a file of its own, where the
// configuration imports one. Version 2 is read by every containerd that has NRI.
func (r *containerd) dropIn(what, table string, lines ...string) Fix {
	f := Fix{What: what + ", then restart containerd (containers go on running)", Persistent: true}
	body := table + "\n" + strings.Join(lines, "\n") + "\n"
	if r.config.Release.Before(2, 0) {
		f.What += "; containerd 1.x takes the last file's table whole, so everything that NRI's table has belongs in one file"
	}
	dir, imported := r.dropIns()
	if !imported && r.generated() {
		f.What += "; " + r.template()
		f.File, f.Content = r.templateFile(), templateBase+body
		return r.restarting(f)
	}
	if !imported && len(r.config.Files) == 0 {
		f.File, f.Content = r.config.Path, "version = 2\n"+body
		return r.restarting(f)
	}
	f.File, f.Content = path.Join(dir, dropInName), "version = 2\n"+body
	if !imported {
		what, commands := r.importing()
		f.What += "; " + what
		f.Commands = commands
	}
	there := func(other runtimeconf.File) bool { return other.Path == f.File }
	if slices.ContainsFunc(r.config.Files, there) || slices.Contains(r.config.Unused, f.File) {
		f.What += "; that file is there already: add to it what it lacks of this"
	}
	return r.restarting(f)
}

// importFix makes containerd read the usual place for drop-ins.
func (r *containerd) importFix() Fix {
	if len(r.config.Files) == 0 {
		return r.restarting(Fix{
			What: "make a main file that imports them, then restart containerd", File: r.config.Path,
			Content: "version = 2\n" + importLine() + "\n", Persistent: true,
		})
	}
	what, commands := r.importing()
	return r.restarting(Fix{What: what + ", then restart containerd", Commands: commands, Persistent: true})
}

func importLine() string { return fmt.Sprintf("imports = [%q]", runtimeconf.DropIns) }

// importing says how the main file comes to import drop-ins. A list that is there
// already is for its owner to add to.
func (r *containerd) importing() (what string, commands []string) {
	if len(r.config.Imports) > 0 {
		return fmt.Sprintf("add %q to the imports in %s", runtimeconf.DropIns, r.config.Path), nil
	}
	file := shell.Quote(r.config.Path)
	return "let " + r.config.Path + " import drop-ins", []string{
		fmt.Sprintf("grep -q '^imports' %s || sed -i '1i %s' %[1]s", file, importLine()),
	}
}

// dropIns returns the directory of drop-ins that is imported, the usual one
// first, or the usual one where none is.
func (r *containerd) dropIns() (dir string, ok bool) {
	usual := path.Dir(runtimeconf.DropIns)
	for _, pattern := range r.config.Imports {
		if ok, _ := path.Match(pattern, path.Join(usual, dropInName)); ok {
			return usual, true
		}
	}
	for _, pattern := range r.config.Imports {
		if ok, _ := path.Match(path.Base(pattern), dropInName); ok && !strings.ContainsAny(path.Dir(pattern), `*?[\`) {
			return path.Dir(pattern), true
		}
	}
	return usual, false
}

// templateBase is the line that stands for all that the distribution writes.
const templateBase = "{{ template \"base\" . }}\n\n"

// generated reports a configuration that is written anew at each start, so that
// what is changed in it is lost.
//
// Source: docs.k3s.io/advanced "Configuring containerd", the same of rke2; the
// base template is there since the releases of September 2023.
func (r *containerd) generated() bool {
	return r.Runtime.Distribution == discover.K3s || r.Runtime.Distribution == discover.RKE2
}

func (r *containerd) template() string {
	return fmt.Sprintf("%s writes %s anew at each start, from a template of yours where there is one", r.Runtime.Distribution, r.config.Path)
}

// templateFile is the template that a distribution reads, which has another name
// for a configuration of version 3.
func (r *containerd) templateFile() string {
	name := "config.toml.tmpl"
	if len(r.config.Files) > 0 && r.config.Files[0].Version >= 3 {
		name = "config-v3.toml.tmpl"
	}
	return path.Join(path.Dir(r.config.Path), name)
}
