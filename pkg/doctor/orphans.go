package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/internal/words"
)

// The codes of what nobody is in charge of any more.
const (
	CodeOrphanRootfs  = "orphan-rootfs"  // the root filesystem of a container that is not there
	CodeOrphanPod     = "orphan-pod"     // volumes of a pod that has no container any more
	CodeOrphanSubpath = "orphan-subpath" // and of those, parts of volumes: they hold the volume they are of
	CodeNoOrphans     = "no-orphans"     // yes
)

// checkOrphans finds root filesystems and volumes of containers and pods that
// are gone. What is missing is looked for a second time: a container may have
// been made or removed meanwhile.
func checkOrphans(s *Snapshot) []Finding {
	sp, ok := s.host()
	if !ok {
		return nil
	}
	o := s.orphans(sp)
	if o.none() {
		return []Finding{o.sound()}
	}
	now, err := s.again(sp)
	if err != nil {
		return []Finding{{
			Code: CodeNoOrphans, Subject: s.kubeletRoot(), Where: sp.where(),
			Message: "cannot tell whether mounts are left over: the mount table could not be read again: " + err.Error(),
		}}
	}
	var all []Finding
	for _, e := range o.rootfs {
		if still(now, e) {
			all = append(all, o.rootfsOf(e)...)
		}
	}
	rootfs := len(all)
	pods := o.judged(now)
	for _, p := range pods[:min(len(pods), max(mostOrphans-len(all), 0))] {
		all = append(all, o.left(p))
	}
	if len(all) == 0 {
		return []Finding{o.sound()}
	}
	if told, found := min(len(all), mostOrphans), rootfs+len(pods); found > told {
		all = all[:told]
		all[told-1].Message += fmt.Sprintf("; there are %d more", found-told)
	}
	return all
}

// mostOrphans bounds the findings.
const mostOrphans = 50

func still(now *hostview.Table, e hostview.Entry) bool {
	is, ok := now.ByID(e.ID)
	return ok && is.MountPoint == e.MountPoint && is.Device == e.Device
}

// orphans is what can be left over.
type orphans struct {
	*Snapshot
	space
	files  Files
	tasks  map[string]container // by bundle
	live   map[string]bool      // the pods of containers that are there
	rootfs []hostview.Entry
	pods   map[string][]hostview.Entry
	uids   []string // in the order of the table
	looked int
}

func (s *Snapshot) orphans(sp space) orphans {
	o := orphans{
		Snapshot: s, space: sp, files: sp.first().Files,
		tasks: map[string]container{}, live: map[string]bool{}, pods: map[string][]hostview.Entry{},
	}
	for _, c := range s.containers() {
		o.tasks[c.Bundle.Dir] = c
		if c.Running.Truth != facts.No {
			o.live[c.Container.Pod.UID] = true
		}
	}
	root := s.kubeletRoot()
	t := sp.first().Table
	for e := range t.All() {
		if dir, ok := bundleOf(e.MountPoint); ok {
			o.looked++
			if c, ok := o.tasks[dir]; !ok || c.Running.Truth == facts.No {
				o.rootfs = append(o.rootfs, e)
			}
			continue
		}
		if !strings.Contains(e.MountPoint, "/pods/") {
			continue
		}
		k, ok := facts.ParseKubeletPath(e.MountPoint, root)
		if !ok || k.PodUID == "" {
			continue
		}
		o.looked++
		if o.live[k.PodUID] {
			continue
		}
		if o.pods[k.PodUID] == nil {
			o.uids = append(o.uids, k.PodUID)
		}
		o.pods[k.PodUID] = append(o.pods[k.PodUID], e)
	}
	return o
}

func (o orphans) none() bool { return len(o.rootfs) == 0 && len(o.pods) == 0 }

func (o orphans) sound() Finding {
	return Finding{
		Code: CodeNoOrphans, Answer: facts.Yes, Subject: o.kubeletRoot(), Where: o.where(),
		Message: fmt.Sprintf("every one of %d root filesystems and volumes that are mounted is of a container or pod that is there", o.looked),
		Evidence: []Evidence{{
			Text: words.Count(o.first().Table.Len(), "mount") + ", " + words.Count(len(o.Tasks), "container"),
			Show: fmt.Sprintf("grep -e /rootfs -e /pods/ /proc/%d/mountinfo", o.first().Process.PID),
		}},
	}
}

// bundleOf returns the bundle whose root filesystem is mounted at a path:
// <state>/io.containerd.runtime.v2.task/<namespace>/<id>/rootfs.
func bundleOf(mountPoint string) (string, bool) {
	dir, ok := strings.CutSuffix(mountPoint, "/rootfs")
	if !ok || path.Base(path.Dir(path.Dir(dir))) != "io.containerd.runtime.v2.task" {
		return "", false
	}
	return dir, true
}

// maxSpec bounds what is read of a config.json to see that it is there.
const maxSpec = 16 << 20

// rootfsOf judges one root filesystem without a container that runs.
func (o orphans) rootfsOf(e hostview.Entry) []Finding {
	dir, _ := bundleOf(e.MountPoint)
	f := Finding{
		Code: CodeOrphanRootfs, Subject: e.MountPoint, Where: o.where(), Evidence: []Evidence{o.evidence(e)},
		Effect: "the layers of the image cannot be removed (device or resource busy), nor a volume that holds the container's own files",
	}
	c, known := o.tasks[dir]
	if o.files == nil {
		f.Message = "cannot tell whether the container of " + word(e.MountPoint) + " is there: the files of the node cannot be read"
		return []Finding{f}
	}
	_, err := o.files.ReadFile(o.Context, dir+"/config.json", maxSpec)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Answer = facts.No
		f.Message = fmt.Sprintf("the root filesystem of a container that is not there is mounted at %s: its bundle has no config.json", word(e.MountPoint))
		f.Evidence = append(f.Evidence, Evidence{Text: word(dir) + "/config.json does not exist", Show: "ls -l " + shell.Quote(dir)})
		f.Fixes = []Fix{{What: "unmount it", Commands: []string{"umount " + shell.Quote(e.MountPoint)}}}
	case err != nil:
		f.Message = fmt.Sprintf("cannot tell whether the container of %s is there: %v", word(e.MountPoint), err)
	case known:
		f.Message = fmt.Sprintf("cannot tell whether %s is left over: %s; a container that has just ended looks the same, look again in a minute", word(e.MountPoint), c.Running.Why)
	default:
		return nil // made since
	}
	return []Finding{f}
}
