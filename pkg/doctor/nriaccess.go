package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// modes is what Files can do beside: tell the mode and the owner of what a path
// leads to, symbolic links followed, without opening it. Sys of the answer is a
// *syscall.Stat_t where the owner is known.
type modes interface {
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
}

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

func owner(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf(" owner %d:%d", st.Uid, st.Gid)
	}
	return ""
}
