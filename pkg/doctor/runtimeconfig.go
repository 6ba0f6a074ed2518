package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/runtimeconf"
)

// containerd is the node's containerd as the checks of NRI see it.
type containerd struct {
	*Snapshot
	config  *runtimeconf.Config
	files   Files // of its mount namespace
	dir     pluginDir
	running []daemon // of mountward
	blind   string   // why others of them are not known
	// needs is what tells that mountward is meant to be a plugin here, "" for
	// nothing.
	needs string
}

// containerd reads containerd's configuration. There is none to read where another
// runtime is in use, or where no containerd was found and no file of it.
func (s *Snapshot) containerd() (*containerd, bool) {
	if name := s.Runtime.Name; name != "" && name != discover.Containerd {
		return nil, false
	}
	r := &containerd{Snapshot: s, files: s.Files}
	if p, ok := s.Place(RoleRuntime); ok && p.Files != nil {
		r.files = p.Files
	}
	if r.files == nil {
		return nil, false // the snapshot says why
	}
	path := s.Runtime.Config
	if path == "" {
		path = runtimeconf.DefaultPath
	}
	r.config = runtimeconf.Load(s.Context, r.files, path, runtimeconf.ParseRelease(s.Runtime.Version))
	if s.Runtime.PID == 0 && len(r.config.Files) == 0 && len(r.config.Unread) == 0 {
		return nil, false
	}
	r.settle()
	r.dir = r.pluginDir()
	r.running, r.blind = s.daemons()
	r.needs = r.installed()
	return r, true
}

// settle lets the kernel say whether NRI is on where the files do not.
func (r *containerd) settle() {
	n := &r.config.NRI
	if n.Enabled.Truth != facts.Unknown {
		return
	}
	now := r.listening(n.SocketPath.Value).listens
	if now.Truth == facts.Yes || now.Truth == facts.No && r.Runtime.PID != 0 && r.config.Complete && !n.DisableConnections.Value {
		n.Enabled = now
	}
}

// checkRuntimeConfig says whether containerd's configuration is what it looks
// like, as far as NRI and a start are concerned.
func checkRuntimeConfig(s *Snapshot) []Finding {
	r, ok := s.containerd()
	if !ok {
		return nil
	}
	c := r.config
	var all []Finding
	for _, p := range c.Unread {
		all = append(all, Finding{
			Code: codeConfig, Answer: facts.Unknown, Subject: subject(p.Position, c), Evidence: evidenceOf(p.Position),
			Message: "containerd's configuration is not fully known: " + p.Message,
		})
	}
	all = append(all, r.refused()...)
	all = append(all, r.orphans()...)
	for _, p := range c.Lost {
		all = append(all, Finding{
			Code: codeConfigLost, Answer: facts.No, Subject: subject(p.Position, c), Evidence: evidenceOf(p.Position), Message: p.Message,
			Cause:  "containerd " + c.Release.String() + " replaces a plugin's whole table by that of a file imported later; 2.0 and later merge them key by key",
			Effect: "the setting has containerd's default value",
			Fixes:  []Fix{{What: "write the whole table into the later file, with this line: " + p.Text, Persistent: true}},
		})
	}
	if len(c.Unused) > 0 {
		all = append(all, r.unused())
	}
	for _, o := range c.Overridden {
		all = append(all, Finding{
			Code: codeConfigOverridden, Answer: facts.Yes, Subject: o.Key,
			Message:  fmt.Sprintf("%s of NRI is set twice: %s holds, not %s", o.Key, o.Holds, o.Lost),
			Evidence: append(evidenceOf(o.Holds), evidenceOf(o.Lost)...),
		})
	}
	if f, ok := r.disabled(); ok {
		all = append(all, f)
	}
	if len(c.Unread) == 0 && len(c.Refused) == 0 {
		all = append(all, r.read())
	}
	return all
}

// read states which containerd it is, and which files are in use.
func (r *containerd) read() Finding {
	f := Finding{Code: codeConfig, Answer: facts.Yes, Subject: r.config.Path}
	switch files := r.config.Files; {
	case len(files) == 0:
		f.Message = "containerd runs with its defaults: there is no " + r.config.Path
		f.Evidence = []Evidence{{Text: r.config.Path + ": no such file", Show: "ls " + shell.Quote(r.config.Path)}}
	default:
		var names []string
		for _, file := range files {
			names = append(names, file.Path)
		}
		f.Message = "containerd's configuration is " + shorten(names)
		f.Evidence = []Evidence{{
			Text: fmt.Sprintf("%s: version %d, %s", r.config.Path, files[0].Version, words.Count(len(files), "file")),
			Show: "containerd --config " + shell.Quote(r.config.Path) + " config dump",
		}}
	}
	if r.Runtime.Version != "" {
		f.Message += "; its release is " + r.Runtime.Version
		f.Evidence = append(f.Evidence, Evidence{Text: r.Runtime.VersionEvidence, Show: fmt.Sprintf("/proc/%d/exe --version", r.Runtime.PID)})
	}
	return f
}

func (r *containerd) refused() []Finding {
	var all []Finding
	for _, p := range r.config.Refused {
		all = append(all, Finding{
			Code: codeConfigRefused, Answer: facts.No, Subject: subject(p.Position, r.config), Evidence: evidenceOf(p.Position),
			Message: "containerd does not start with this configuration: " + p.Message,
			Effect:  "one that runs goes on until it is restarted; after that, and after a reboot, the node has no runtime",
			Fixes: []Fix{{
				What:       "correct the file, and see that this prints no error",
				Commands:   []string{"containerd --config " + shell.Quote(r.config.Path) + " config dump >/dev/null"},
				Persistent: true,
			}},
		})
	}
	return all
}

func (r *containerd) orphans() []Finding {
	var all []Finding
	for _, p := range r.config.Orphans {
		f := Finding{
			Code: codeConfigOrphan, Answer: facts.No, Subject: subject(p.Position, r.config), Evidence: evidenceOf(p.Position), Message: p.Message,
			Effect: "containerd logs a warning at most and uses its default instead",
			Fixes:  []Fix{{What: "move it to where it has an effect", Persistent: true}},
		}
		if key, _, set := strings.Cut(p.Text, "="); set {
			if table, ok := runtimeconf.TableOf(strings.TrimSpace(key)); ok {
				f.Fixes[0] = r.dropIn(f.Fixes[0].What, table, p.Text)
			}
		}
		all = append(all, f)
	}
	return all
}

func (r *containerd) unused() Finding {
	c := r.config
	f := Finding{
		Code: codeDropInUnused, Answer: facts.No, Subject: c.Unused[0],
		Message: "containerd does not read " + shorten(c.Unused) + ": no file imports it",
		Cause: "containerd, up to 2.4 at least, does not read " + runtimeconf.DropIns + " by itself: its main file has to import it, " +
			`as the one does that "containerd config default" prints since 2.2`,
		Effect: "nothing in these files has an effect",
	}
	for _, path := range c.Unused[:min(len(c.Unused), 8)] {
		f.Evidence = append(f.Evidence, Evidence{Text: path, Show: "ls -l " + shell.Quote(path)})
	}
	f.Evidence = append(f.Evidence, Evidence{Text: c.Path + ": no import of " + runtimeconf.DropIns, Show: "grep -n imports " + shell.Quote(c.Path)})
	f.Fixes = []Fix{r.importFix()}
	return f
}

// disabled judges NRI's switch by whether anything here needs NRI.
func (r *containerd) disabled() (Finding, bool) {
	n := r.config.NRI
	f := Finding{Code: codeNRIDisabled, Answer: n.Enabled.Truth, Subject: "NRI", Evidence: r.evidence(n.EnabledAt, "disable")}
	switch {
	case n.Enabled.Truth == facts.Yes, n.Enabled.Truth == facts.Unknown && r.needs == "":
		return f, false
	case r.needs == "":
		f.Answer, f.Message = facts.Yes, "NRI is off in containerd, and nothing of mountward is installed that needs it: "+n.Enabled.Why
	case n.Enabled.Truth == facts.Unknown:
		f.Message = "cannot tell whether NRI is on, which mountward needs (" + r.needs + "): " + n.Enabled.Why
		if why := r.Runtime.VersionEvidence; r.Runtime.Version == "" && why != "" {
			f.Message += " (" + why + ")"
		}
	default:
		f.Message = "NRI is off in containerd, and mountward needs it (" + r.needs + "): " + n.Enabled.Why
		f.Effect = "mountward is never asked: mounts stay as they were asked for, and no record is written"
		f.Fixes = []Fix{r.dropIn("switch NRI on", runtimeconf.NRITable, "disable = false")}
		if strings.Contains(n.Enabled.Why, "disabled_plugins") {
			f.Fixes = []Fix{{What: "take NRI out of disabled_plugins at " + n.EnabledAt.String(), Persistent: true}}
		}
	}
	return f, true
}
