package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// podMounts is what of one pod without a container that runs is mounted still.
type podMounts struct {
	code, uid string
	mounts    []hostview.Entry
	dead      facts.Answer
}

// judged returns what is mounted still of all pods without a container that
// runs, first that of pods that are known to be dead.
func (o orphans) judged(now *hostview.Table) []podMounts {
	var all []podMounts
	root, blind := o.kubeletRoot(), o.blind()
	for _, uid := range o.uids {
		var subpaths, volumes []hostview.Entry
		for _, e := range o.pods[uid] {
			switch k, _ := facts.ParseKubeletPath(e.MountPoint, root); {
			case !still(now, e):
			case k.Role == facts.PathSubpath:
				subpaths = append(subpaths, e)
			default:
				volumes = append(volumes, e)
			}
		}
		if len(subpaths)+len(volumes) == 0 {
			continue
		}
		dead := facts.CannotTell(blind)
		if blind == "" {
			dead = o.dead(uid, o.pods[uid][0], len(subpaths) > 0)
		}
		if len(subpaths) > 0 {
			all = append(all, podMounts{CodeOrphanSubpath, uid, subpaths, dead})
		}
		if len(volumes) > 0 {
			all = append(all, podMounts{CodeOrphanPod, uid, volumes, dead})
		}
	}
	slices.SortStableFunc(all, func(a, b podMounts) int {
		return compareDead(a.dead.Truth) - compareDead(b.dead.Truth)
	})
	return all
}

func compareDead(t facts.Truth) int {
	if t == facts.Yes {
		return 0
	}
	return 1
}

// dead answers whether a pod without a running container had one: that of a pod
// which waits for a volume or a secret has none yet, for as long as it waits.
func (o orphans) dead(uid string, e hostview.Entry, subpath bool) facts.Answer {
	if subpath { // made for a container, after the sandbox
		return facts.Is(true, "it had containers: parts of volumes were mounted for them")
	}
	k, _ := facts.ParseKubeletPath(e.MountPoint, o.kubeletRoot())
	dir := path.Join(k.Root, "pods", uid, "containers")
	if o.files == nil {
		return facts.CannotTell("the files of the node cannot be read")
	}
	names, err := o.files.ReadDir(o.Context, dir, 1000)
	switch {
	case err == nil && len(names) > 0:
		return facts.Is(true, fmt.Sprintf("it had containers: %s has %s", word(dir), list(names)))
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return facts.CannotTell("it never had a container, and a pod that waits for a volume or a secret looks the same")
	default:
		return facts.CannotTell(err.Error())
	}
}

// blind says why pods cannot be told to be dead: not all containers are known.
func (o orphans) blind() string {
	if len(o.Tasks) == 0 {
		return "no container of containerd is known on this node"
	}
	for _, t := range o.Tasks {
		if t.Bundle.Namespace() == "k8s.io" && t.Container.Pod.UID == "" && len(t.Spec.Annotations) == 0 {
			return fmt.Sprintf("which pod the container %s is of is not known", word(t.Container.ID))
		}
	}
	for _, u := range o.Unknown {
		if strings.HasPrefix(u.What, "containers") {
			return u.What + ": " + u.Why
		}
	}
	return ""
}

// left says what of one pod is left over.
func (o orphans) left(p podMounts) Finding {
	f := Finding{
		Code: p.code, Subject: "pod " + p.uid, Where: o.where(),
		Effect: "the volume stays in use: it is not detached, and a new pod that wants it may find it mounted already",
	}
	noun := "volumes"
	if p.code == CodeOrphanSubpath {
		noun = "parts of volumes (subPath)"
		f.Effect = "the volume that the directory is of stays in use: it is not detached, lvremove says that it is busy, and the pod stays Terminating"
	}
	fix := Fix{What: "if the pod is gone from the cluster as well (kubectl get pods -A -o wide), unmount them; nothing in them is deleted by that"}
	seen := map[string]bool{}
	var places []string
	for i := len(p.mounts) - 1; i >= 0; i-- { // what was mounted last first
		e := p.mounts[i]
		if len(f.Evidence) < mostLines {
			f.Evidence = append(f.Evidence, o.evidence(e))
		}
		if !seen[e.MountPoint] {
			seen[e.MountPoint] = true
			places = append(places, e.MountPoint)
			if len(fix.Commands) < mostCommands {
				fix.Commands = append(fix.Commands, "umount "+shell.Quote(e.MountPoint))
			}
		}
	}
	where := fmt.Sprintf("at %s", list(places))
	if p.dead.Truth == facts.Yes {
		f.Answer = facts.No
		f.Message = fmt.Sprintf("%d %s are mounted for the pod %s, which has no container any more, %s", len(p.mounts), noun, word(p.uid), where)
		f.Cause = p.dead.Why
		f.Fixes = []Fix{fix}
		return f
	}
	f.Message = fmt.Sprintf("cannot tell whether %d %s of the pod %s, which has no container, are left over: %s; they are %s", len(p.mounts), noun, word(p.uid), p.dead.Why, where)
	return f
}

// mostCommands bounds the commands of a fix.
const mostCommands = 20
