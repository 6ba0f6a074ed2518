package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// pluginConf returns the file that containerd hands to a plugin that it
// launches, "" where there is none, and what it holds.
func (r *containerd) pluginConf(p plugin) (file string, text []byte, err error) {
	dir := r.config.NRI.PluginConfigPath.Value
	for _, name := range []string{p.index + "-" + p.base + ".conf", p.base + ".conf"} {
		file = path.Join(dir, name)
		text, err = r.files.ReadFile(r.Context, file, maxPluginConf)
		if !errors.Is(err, fs.ErrNotExist) {
			return file, text, err
		}
	}
	return "", nil, nil
}

// pluginConfigs finds configuration that containerd cannot read: it does not
// start then. What only we cannot read is another thing.
func (r *containerd) pluginConfigs() []Finding {
	var all []Finding
	for _, p := range r.dir.launched() {
		file, _, err := r.pluginConf(p)
		if err == nil {
			continue
		}
		f := Finding{
			Code: codePluginConfig, Answer: facts.Unknown, Subject: file,
			Message:  fmt.Sprintf("cannot tell whether containerd can read the configuration of %s: %v", p.name, err),
			Evidence: []Evidence{{Text: err.Error(), Show: "ls -ld " + shell.Quote(file)}},
		}
		if _, dir := r.files.ReadDir(r.Context, file, maxPlugins); dir == nil {
			f.Answer = facts.No
			f.Message = fmt.Sprintf("%s is a directory where containerd reads the configuration of %s: with it containerd does not start", file, p.name)
			f.Effect = "containerd exits with code 1 at its next start, and the node has no runtime"
			f.Fixes = []Fix{{What: "move it away", Commands: []string{away(file)}, Persistent: true}}
			f = r.ifEnabled(f)
		}
		all = append(all, f)
	}
	return all
}
