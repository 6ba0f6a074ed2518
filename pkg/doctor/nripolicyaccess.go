package doctor

import (
	"io/fs"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

// maxDropIns bounds the names that are read of the directory of drop-ins.
const maxDropIns = 10_000

// policyWritable finds what others than root could change of what mountward decides
// by. That of one in a container is not on the host.
func (r *containerd) policyWritable() []Finding {
	files := r.seen()
	if files == nil || slices.ContainsFunc(r.running, func(d daemon) bool { return d.how == byContainer }) {
		return nil
	}
	set, main, err := r.policyPath()
	if err != nil {
		return nil // what is decided cannot be told of, and failOpen says so
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

// notTheirs is that for a directory that a link leads to, which can be somebody's
// home. In one for many nobody can replace what belongs to root.
func notTheirs(_ string, info fs.FileInfo) (Fix, bool) { return elsewhere, !sticky(info) }
