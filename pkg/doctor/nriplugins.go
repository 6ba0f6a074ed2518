package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
)

const (
	maxPlugins    = 1024    // names in a directory
	maxPluginConf = 1 << 20 // bytes
)

// plugin is one entry of NRI's plugin directory.
type plugin struct {
	name, path string
	index      string // "90"
	base       string // "mountward"; both are empty for a name that is none of a plugin
	target     string // of a symbolic link; the path itself for what is none
	link       bool
	dangling   bool
	launched   facts.Answer // by its mode: containerd takes any file with an x bit, and any link
	dir        bool
}

// pluginDir is NRI's plugin directory.
type pluginDir struct {
	path    string
	exists  bool
	entries []plugin
	unread  []Evidence // what could not be read
}

// launched returns the plugins that containerd launches.
func (d pluginDir) launched() []plugin {
	var all []plugin
	for _, p := range d.entries {
		if p.launched.Truth == facts.Yes && p.index != "" {
			all = append(all, p)
		}
	}
	return all
}

// pluginDir reads the directory as containerd does when it starts
// (discoverPlugins in NRI's pkg/adaptation).
func (r *containerd) pluginDir() pluginDir {
	d := pluginDir{path: r.config.NRI.PluginPath.Value}
	names, err := r.files.ReadDir(r.Context, d.path, maxPlugins)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.unread = append(d.unread, Evidence{Text: err.Error(), Show: "ls -l " + shell.Quote(d.path)})
		}
		return d
	}
	d.exists = true
	canonical, err := r.files.Canonical(r.Context, d.path)
	if err != nil {
		canonical = d.path
	}
	for _, name := range names {
		d.entries = append(d.entries, r.plugin(d.path, canonical, name))
	}
	return d
}

func (r *containerd) plugin(dir, canonical, name string) plugin {
	p := plugin{name: name, path: path.Join(dir, name)}
	p.index, p.base = pluginName(name)
	target, err := r.files.Canonical(r.Context, p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.link, p.dangling = true, true
	case err != nil:
		p.launched = facts.CannotTell(err.Error())
		return p
	default:
		p.target, p.link = target, target != path.Join(canonical, name)
	}
	if p.link {
		p.launched = facts.Is(true, "a symbolic link")
		return p
	}
	info, err := r.stat(p.path)
	switch {
	case err != nil:
		p.launched = facts.CannotTell(err.Error())
	case info.IsDir():
		p.dir, p.launched = true, facts.Is(false, "a directory")
	default:
		p.launched = facts.Is(info.Mode()&0o111 != 0, info.Mode().String())
	}
	return p
}

// pluginName takes "90-mountward" apart, as NRI's ParsePluginName does.
func pluginName(name string) (index, base string) {
	index, base, ok := strings.Cut(name, "-")
	if !ok || len(index) != 2 || strings.Trim(index, "0123456789") != "" {
		return "", ""
	}
	return index, base
}

// leftover reports a base that an editor or a package manager made, or that
// somebody put aside.
func leftover(base string) bool {
	for _, suffix := range []string{
		"~", ".bak", ".old", ".orig", ".save", ".swp", ".tmp", ".new", ".disabled", ".off", ".part",
		".dpkg-new", ".dpkg-old", ".dpkg-dist", ".dpkg-tmp", ".rpmnew", ".rpmsave", ".rpmorig",
	} {
		if strings.HasSuffix(base, suffix) {
			return true
		}
	}
	return base != pluginBase && strings.HasPrefix(base, pluginBase+".")
}

// plugins judges every entry.
func (r *containerd) plugins() []Finding {
	d := r.dir
	var all []Finding
	for _, e := range d.unread {
		all = append(all, Finding{
			Code: codePlugins, Answer: facts.Unknown, Subject: d.path, Evidence: []Evidence{e},
			Message: "cannot tell what containerd launches: " + e.Text,
		})
	}
	for _, p := range d.entries {
		if f, ok := r.entry(p); ok {
			all = append(all, f)
		}
	}
	all = append(all, r.twice()...)
	all = append(all, r.pluginConfigs()...)
	all = append(all, r.writable()...)
	if len(all) == 0 {
		all = append(all, r.launchedOnes())
	}
	return all
}

// entry judges one entry by its name and mode.
func (r *containerd) entry(p plugin) (Finding, bool) {
	f := Finding{Answer: facts.No, Subject: p.path, Evidence: []Evidence{{Text: p.path + ": " + cmp.Or(p.launched.Why, "?"), Show: "ls -l " + shell.Quote(p.path)}}}
	aside := Fix{What: "move it out of the directory", Commands: []string{away(p.path)}, Persistent: true}
	switch {
	case p.launched.Truth == facts.Unknown:
		f.Code, f.Answer = codePlugins, facts.Unknown
		f.Message = "cannot tell whether containerd launches " + p.path + ": " + p.launched.Why
		if p.index == "" {
			f.Message = "cannot tell whether " + p.path + " is executable, with which containerd would not start: " + p.launched.Why
		}
	case p.launched.Truth == facts.Yes && p.index == "":
		f.Code = codePluginName
		f.Message = p.path + " is executable and its name is not of the form NN-name: with it containerd does not start"
		f.Cause = "NRI takes every executable file there for a plugin and gives up at the first name that is none"
		f.Effect = "containerd exits with code 1 at its next start, and the node has no runtime"
		f.Fixes = []Fix{aside}
		f = r.ifEnabled(f)
	case p.launched.Truth == facts.Yes && p.dangling:
		f.Code = codePluginDangling
		f.Message = p.path + " is a symbolic link to nothing: containerd starts without this plugin"
		f.Effect = "a warning in containerd's log is all that tells"
		f.Fixes = []Fix{{What: "install what it links to, or take it away", Commands: []string{away(p.path)}, Persistent: true}}
	case p.launched.Truth == facts.Yes && leftover(p.base):
		f.Code = codePluginLeftover
		f.Message = p.path + " looks like a leftover, and containerd launches it as a plugin of its own"
		f.Effect = "an old plugin changes containers beside the present one, or the two fail each other's containers"
		f.Fixes = []Fix{aside}
		f = r.ifEnabled(f)
	case p.launched.Truth == facts.No && !p.dir && p.base == pluginBase:
		f.Code = codePluginNotRun
		f.Message = p.path + " is not executable: containerd does not launch it"
		f.Effect = "containers start without mountward"
		f.Fixes = []Fix{{What: "make it executable; containerd launches it at its next start", Commands: []string{"chmod 0755 " + shell.Quote(p.path)}, Persistent: true}}
	default:
		return f, false
	}
	return f, true
}

// ifEnabled turns a problem that NRI makes into one that cannot be told where
// nobody knows whether NRI is on.
func (r *containerd) ifEnabled(f Finding) Finding {
	if e := r.config.NRI.Enabled; e.Truth == facts.Unknown {
		f.Answer = facts.Unknown
		f.Message += ", if NRI is on, which cannot be told: " + e.Why
	}
	return f
}

func away(path string) string {
	return fmt.Sprintf("test ! -e %s -a ! -L %[1]s || mv %[1]s /root/", shell.Quote(path))
}

// launchedOnes states what containerd launches.
func (r *containerd) launchedOnes() Finding {
	d := r.dir
	f := Finding{Code: codePlugins, Answer: facts.Yes, Subject: d.path}
	f.Evidence = r.evidence(r.config.NRI.PluginPath.At, "plugin_path")
	var names []string
	for _, p := range d.launched() {
		names = append(names, p.name)
		f.Evidence = append(f.Evidence, Evidence{Text: p.path + ": " + p.launched.Why, Show: "ls -l " + shell.Quote(p.path)})
	}
	switch {
	case !d.exists:
		f.Message = "containerd launches no plugin: there is no " + d.path
	case len(names) == 0:
		f.Message = "containerd launches no plugin: there is none in " + d.path
	default:
		f.Message = "containerd launches " + shorten(names)
	}
	f.Evidence = f.Evidence[:min(len(f.Evidence), 8)]
	return f
}
