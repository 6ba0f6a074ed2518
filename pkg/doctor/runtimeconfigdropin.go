package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/runtimeconf"
)

// dropInName is late among the drop-ins, so that it holds.
const dropInName = "50-mountward.toml"

// dropIn is the fix that sets lines of a table in a file of its own, where the
// configuration imports one. Version 2 is read by every containerd that has NRI.
func (r *containerd) dropIn(what, table string, lines ...string) Fix {
	f := Fix{What: what + ", then restart containerd (containers go on running)", Persistent: true}
	body := table + "\n" + strings.Join(lines, "\n") + "\n"
	if r.config.Release.Known() && !r.config.Release.AtLeast(2, 0) {
		f.What += "; containerd 1.x takes the last file's table whole, so everything that NRI's table has belongs in one file"
	}
	dir, imported := r.dropIns()
	if !imported && len(r.config.Files) == 0 {
		f.File, f.Content, f.Commands = r.config.Path, "version = 2\n"+body, []string{r.restart()}
		return f
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
	f.Commands = append(f.Commands, r.restart())
	return f
}

// importFix makes containerd read the usual place for drop-ins.
func (r *containerd) importFix() Fix {
	if len(r.config.Files) == 0 {
		return Fix{
			What: "make a main file that imports them, then restart containerd", File: r.config.Path,
			Content: "version = 2\n" + importLine() + "\n", Commands: []string{r.restart()}, Persistent: true,
		}
	}
	what, commands := r.importing()
	return Fix{What: what + ", then restart containerd", Commands: append(commands, r.restart()), Persistent: true}
}

func importLine() string { return fmt.Sprintf("imports = [%q]", runtimeconf.DropIns) }

// importing says how the main file comes to import drop-ins. A list that is there
// already is for its owner to add to.
func (r *containerd) importing() (what string, commands []string) {
	if len(r.config.Imports) > 0 {
		return fmt.Sprintf("add %q to the imports in %s", runtimeconf.DropIns, r.config.Path), nil
	}
	file := shell(r.config.Path)
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

// restart is the command that restarts containerd: of a distribution that runs
// its own, the whole.
func (r *containerd) restart() string {
	p, ok := r.Place(RoleRuntime)
	switch unit := p.Process.Owner.Unit; {
	case ok && strings.HasSuffix(unit, ".service"):
		return "systemctl restart " + shell(unit)
	default:
		return "systemctl restart containerd"
	}
}
