package doctor

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/settings"
)

// enforces says whether mountward's policy is in enforce mode, by the files on
// the host: Yes, No, or why it cannot be told. A bad file is salvaged: the
// daemon's own opinion of it is told by "mountward check".
func (r *containerd) enforces() (facts.Answer, []Evidence) {
	for _, one := range r.running {
		if one.how == byContainer {
			return facts.CannotTell("mountward runs in a container, whose policy is not on the host"), nil
		}
	}
	files := r.seen()
	if files == nil {
		return facts.CannotTell("the host's files cannot be read"), nil
	}
	_, policy, err := r.policyPath()
	if err != nil {
		return facts.CannotTell(err.Error()), nil
	}
	text, err := files.ReadFile(r.Context, policy, strict.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist) && policy == settings.DefaultPolicyPath:
		return facts.Is(false, "the built-in policy is in audit mode: there is no "+policy),
			[]Evidence{{Text: policy + ": no such file", Show: "ls " + shell.Quote(policy)}}
	case err != nil:
		return facts.CannotTell(err.Error()), nil
	}
	var p struct {
		Mode string `toml:"mode"`
	}
	at := strict.Salvage(policy, text, &p).At("mode").String()
	evidence := []Evidence{{Text: at + ": mode = \"" + p.Mode + "\"", Show: "grep -n '^mode' " + shell.Quote(policy)}}
	switch p.Mode {
	case "enforce", "audit":
		return facts.Is(p.Mode == "enforce", at+": mode "+p.Mode), evidence
	default:
		return facts.CannotTell(at + ": neither audit nor enforce"), evidence
	}
}

// seen are the files that mountward itself sees: those of containerd where that
// launches it, else those of process 1. It is nil where these cannot be read.
func (r *containerd) seen() Files {
	if slices.ContainsFunc(r.dir.launched(), func(p plugin) bool { return p.base == pluginBase }) {
		return r.files
	}
	return r.Files
}

// policyPath returns where mountward's policy is, and the file that says so or would.
func (r *containerd) policyPath() (set, policy string, err error) {
	text, set, err := r.settingsText()
	if err != nil {
		return set, "", err
	}
	var s struct {
		Policy string `toml:"policy"`
	}
	strict.Salvage(set, text, &s)
	return set, cmp.Or(s.Policy, settings.DefaultPolicyPath), nil
}

// settingsText returns mountward's settings: what containerd hands over to one
// that it launches, else its own file.
func (r *containerd) settingsText() (text []byte, name string, err error) {
	for _, p := range r.dir.launched() {
		if p.base != pluginBase {
			continue
		}
		if file, text, err := r.pluginConf(p); err != nil || len(text) > 0 {
			return text, file, err
		}
	}
	text, err = r.seen().ReadFile(r.Context, settings.DefaultPath, strict.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return text, settings.DefaultPath, err
}
