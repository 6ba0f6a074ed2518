package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"syscall"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

// modes is what Files can do beside: tell the mode and the owner of what a path
// leads to, symbolic links followed, without opening it. Sys of the answer is a
// *syscall.Stat_t where the owner is known.
type modes interface {
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
}

// maxDropIns bounds the names that are read of the directory of drop-ins.
const maxDropIns = 10_000

var errNoModes = errors.New("the modes of files cannot be seen here")

// stat is of what containerd sees.
func (r *containerd) stat(path string) (fs.FileInfo, error) { return r.statBy(r.files, path) }

func (r *containerd) statBy(files Files, path string) (fs.FileInfo, error) {
	if m, ok := files.(modes); ok {
		return m.Stat(r.Context, path)
	}
	return nil, errNoModes
}

// others says why others than root can change what is at a path, "" where they
// cannot. Owners are those that our user namespace shows.
func others(info fs.FileInfo) string {
	perm := info.Mode().Perm()
	st, known := info.Sys().(*syscall.Stat_t)
	switch {
	case known && st.Uid != 0:
		return fmt.Sprintf("it belongs to user %d", st.Uid)
	case perm&0o002 != 0:
		return "everybody can write it"
	case perm&0o020 != 0 && (!known || st.Gid != 0):
		return "its group can write it"
	default:
		return ""
	}
}

// writable finds what others than root could change of what containerd runs as
// root. NRI checks neither owners nor modes.
func (r *containerd) writable() []Finding {
	d := r.dir
	paths := []string{}
	if d.exists {
		paths = append(paths, d.path)
	}
	for _, p := range d.launched() {
		if p.target != "" {
			paths = append(paths, p.target)
		}
		if file, _, err := r.pluginConf(p); file != "" && err == nil {
			paths = append(paths, file)
		}
	}
	if conf := r.config.NRI.PluginConfigPath.Value; len(d.launched()) > 0 {
		paths = append(paths, conf)
	}
	return r.writableOf(r.files, Finding{
		Code:    codePluginWritable,
		Message: "others than root can change what containerd launches as root",
		Effect:  "who writes there runs as root at containerd's next start, or decides what the plugin does",
	}, paths, forRoot)
}

// policyWritable finds what others than root could change of what mountward decides
// by. That of one in a container is not on the host.
func (r *containerd) policyWritable() []Finding {
	if r.Files == nil || slices.ContainsFunc(r.running, func(d daemon) bool { return d.how == byContainer }) {
		return nil
	}
	set, main, err := r.policyPath()
	if err != nil {
		return nil // what is decided cannot be told of, and failOpen says so
	}
	files := r.Files
	if set != settings.DefaultPath { // launched, it sees what containerd sees
		files = r.files
	}
	dropIns := path.Join(path.Dir(main), policy.DropInDir)
	read := []string{main, dropIns}
	if set == settings.DefaultPath { // else it is a plugin's, and judged as such
		read = append(read, set)
	}
	names, err := files.ReadDir(r.Context, dropIns, maxDropIns)
	if err == nil {
		for _, name := range names {
			if policyfile.DropIn(name) {
				read = append(read, path.Join(dropIns, name))
			}
		}
	}
	own, behind := slices.Clone(read), []string{}
	for _, file := range read {
		own = append(own, path.Dir(file))
		if to, err := files.Canonical(r.Context, file); err == nil && path.Dir(to) != path.Dir(file) {
			behind = append(behind, path.Dir(to))
		}
	}
	of := Finding{
		Code:    codePolicyWritable,
		Message: "others than root can change what mountward decides by",
		Effect:  "who writes there decides which mounts of other people's containers are shared with the node, and which are refused",
	}
	all := r.writableOf(files, of, distinct(own), forRoot)
	return append(all, r.writableOf(files, of, distinct(behind), notTheirs)...)
}

func distinct(paths []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(paths)))
}

// writableOf finds those of the paths that others than root can change. What is not
// there, or cannot be seen, is told of elsewhere; and of what there is no fix,
// nothing.
func (r *containerd) writableOf(files Files, of Finding, paths []string, fix func(string, fs.FileInfo) (Fix, bool)) []Finding {
	var all []Finding
	for _, path := range paths {
		info, err := r.statBy(files, path)
		if err != nil {
			continue
		}
		why := others(info)
		mend, wanted := fix(path, info)
		if why == "" || !wanted {
			continue
		}
		f := of
		f.Answer, f.Subject, f.Message = facts.No, path, of.Message+": "+path+": "+why
		f.Evidence = []Evidence{{Text: path + ": " + info.Mode().String() + owner(info), Show: "ls -ld " + shell.Quote(path)}}
		f.Fixes = []Fix{mend}
		all = append(all, f)
	}
	return all
}

var elsewhere = Fix{What: "move what is read there to a directory of root alone", Persistent: true}

// sticky reports a directory that is made for many, as /tmp is.
func sticky(info fs.FileInfo) bool { return info.IsDir() && info.Mode()&fs.ModeSticky != 0 }

// forRoot is how to keep others from a path. In a directory for many they can put
// files beside ours.
func forRoot(path string, info fs.FileInfo) (Fix, bool) {
	if sticky(info) {
		return elsewhere, true
	}
	return Fix{
		What:       "give it to root alone",
		Commands:   []string{"chown root:root " + shell.Quote(path), "chmod go-w " + shell.Quote(path)},
		Persistent: true,
	}, true
}

// notTheirs is that for a directory that a link leads to, which can be somebody's
// home. In one for many nobody can replace what belongs to root.
func notTheirs(_ string, info fs.FileInfo) (Fix, bool) { return elsewhere, !sticky(info) }

func owner(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf(" owner %d:%d", st.Uid, st.Gid)
	}
	return ""
}
