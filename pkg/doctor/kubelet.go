package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/internal/words"
)

// The codes of where the kubelet's root is.
const (
	CodeKubeletRoot    = "kubelet-root"         // yes: found, and all sources agree
	CodeRootDiffers    = "kubelet-root-differs" // the settings name another than the kubelet has
	CodeRootClaimed    = "kubelet-root-claimed" // cannot tell: kubelets of root have different ones
	CodeRootMoved      = "kubelet-root-moved"   // its volumes are mounted elsewhere
	CodeRootLink       = "kubelet-root-symlink" // it is reached through a symbolic link
	CodeRootBound      = "kubelet-root-bound"   // yes: a bind mount
	CodeKubeletPath    = "kubelet-path"         // containers mount it where the kubelet does not mean it
	CodeRuntimeOther   = "runtime-other"        // yes: not containerd
	CodeRuntimeDiffers = "runtime-differs"      // yes: sources name more than one
)

// checkKubelet tells where the kubelet's root is, and who disagrees.
func checkKubelet(s *Snapshot) []Finding {
	k := s.Kubelet
	found := Finding{
		Code: CodeKubeletRoot, Answer: facts.Yes, Subject: k.Root, Where: where(s),
		Message:  fmt.Sprintf("the root of the kubelet is %s, by %s", word(k.Root), k.Chosen.From),
		Evidence: sourceEvidence(k.Sources),
	}
	if k.PID == 0 {
		found.Message += "; no process of the host runs a kubelet"
	}
	if len(k.Passed) > 0 {
		found.Message += "; passed over: " + strings.Join(k.Passed, "; ")
	}
	all := []Finding{found}
	for _, f := range []*Finding{rootDiffers(k), rootClaimed(k), rootMoved(k), rootLink(s), rootBound(s), kubeletPath(s), runtimeOther(s.Runtime), runtimeDiffers(s.Runtime)} {
		if f != nil {
			if f.Where == "" {
				f.Where = where(s)
			}
			all = append(all, *f)
		}
	}
	return all
}

func where(s *Snapshot) string {
	p, ok := s.Place(RoleKubelet)
	if !ok {
		if p, ok = s.Place(RoleInit); !ok {
			return ""
		}
	}
	return space{p}.where()
}

func sourceEvidence(sources []discover.Source) []Evidence {
	var all []Evidence
	for _, s := range sources {
		all = append(all, Evidence{Text: fmt.Sprintf("%s: %s (%s)", s.From, s.Value, s.Evidence), Show: showSource(s)})
	}
	return all
}

func showSource(s discover.Source) string {
	switch s.From {
	case discover.FromProcess:
		return "ps -ww -eo pid,args"
	case discover.FromConfig: // "FILE:LINE..."
		file, rest, _ := strings.Cut(s.Evidence, ":")
		return "sed -n " + rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))] + "p " + shell.Quote(file)
	case discover.FromMounts:
		return "findmnt -rn -o TARGET | grep '/volumes/kubernetes.io~'"
	case discover.FromSocket:
		return "ss -xlp"
	case discover.FromSettings:
		return "grep -n kubelet_root /etc/mountward/mountward.toml"
	case discover.FromTable:
		return "ls -ld " + shell.Quote(s.Value)
	default:
		return "ps -e -o pid,comm | grep -e kube -e k3s -e rke2 -e k0s"
	}
}

func rootDiffers(k discover.Kubelet) *Finding {
	if k.Chosen.From != discover.FromSettings {
		return nil
	}
	for _, s := range k.Sources {
		if s.From == discover.FromProcess && s.Value != k.Root && s.Value != k.Canonical {
			return &Finding{
				Code: CodeRootDiffers, Answer: facts.No, Subject: k.Root,
				Message:  fmt.Sprintf("[host] kubelet_root is %s, but the kubelet runs with %s", word(k.Root), word(s.Value)),
				Evidence: sourceEvidence([]discover.Source{k.Chosen, s}),
				Cause:    "the settings were written for another kubelet, or its root was moved since",
				Effect:   "rules for ${kubelet_root} match nothing that the kubelet mounts",
				Fixes:    []Fix{{What: `write kubelet_root = "auto", or the kubelet's root, in mountward.toml`, Persistent: true}},
			}
		}
	}
	return nil
}

// rootClaimed tells of several kubelets: which one is the node's cannot be told.
func rootClaimed(k discover.Kubelet) *Finding {
	if k.Chosen.From != discover.FromProcess {
		return nil
	}
	for _, s := range k.Sources[1:] {
		if s.From == discover.FromProcess && s.Value != k.Root && s.Value != k.Canonical {
			return &Finding{
				Code: CodeRootClaimed, Subject: k.Root,
				Message:  fmt.Sprintf("cannot tell which is the kubelet's root: %s has %s, %s has %s; what is said here is of the first", k.Chosen.Evidence, word(k.Root), s.Evidence, word(s.Value)),
				Evidence: sourceEvidence([]discover.Source{k.Chosen, s}),
				Fixes:    []Fix{{What: "stop the one that is not the node's, or write its root as [host] kubelet_root in mountward.toml", Persistent: true}},
			}
		}
	}
	return nil
}

func rootMoved(k discover.Kubelet) *Finding {
	l, moved := k.Moved()
	if !moved || k.Chosen.From == discover.FromMounts {
		return nil
	}
	return &Finding{
		Code: CodeRootMoved, Answer: facts.No, Subject: k.Root,
		Message:  fmt.Sprintf("no volume is mounted below %s, but below %s: %s of %s", word(k.Root), word(l.Root), words.Count(l.Volumes, "volume"), words.Count(l.Pods, "pod")),
		Evidence: append([]Evidence{{Text: l.Line, Show: "grep '/volumes/kubernetes.io~' /proc/1/mountinfo"}}, sourceEvidence([]discover.Source{k.Chosen})...),
		Cause:    "the root was moved and pods of the old one were left, or what names the root is wrong",
		Effect:   "drivers and agents that were told one of the two paths see no volume of the other: attached, never mounted",
		Fixes:    []Fix{{What: fmt.Sprintf("give drivers and agents the root that the kubelet uses; if it was moved, drain the node and unmount what is left below %s", word(l.Root))}},
	}
}

func rootBound(s *Snapshot) *Finding {
	k := s.Kubelet
	if k.Bound == "" {
		return nil
	}
	f := &Finding{
		Code: CodeRootBound, Answer: facts.Yes, Subject: k.Root,
		Message: fmt.Sprintf("%s is a bind mount: the directory is %s", word(k.Root), word(k.Bound)),
	}
	for _, p := range s.Places {
		if p.Table == nil {
			continue
		}
		if e, ok := p.Table.At(k.Canonical); ok {
			f.Evidence, f.Where = []Evidence{space{p}.evidence(e)}, space{p}.where()
			return f
		}
	}
	return nil
}

// kubeletPath finds containers that share the kubelet's root, pods or plugins
// with the host, under another path than the kubelet's: it tells a driver paths
// as it spells them itself.
func kubeletPath(s *Snapshot) *Finding {
	containers := mountsElsewhere(s)
	if len(containers) == 0 {
		return nil
	}
	return &Finding{
		Code: CodeKubeletPath, Answer: facts.No, Subject: s.Kubelet.Root,
		Message: fmt.Sprintf("containers: %d mount the kubelet's directory with Bidirectional under another path than %s, which the kubelet uses towards drivers",
			len(containers), word(s.Kubelet.Root)),
		Evidence:   []Evidence{{Text: containers[0], Show: "crictl inspect"}},
		Cause:      "the driver was installed for another root of the kubelet than this node's",
		Effect:     "a driver mounts at a path that leads nowhere in its container: pods see empty volumes",
		Fixes:      []Fix{{What: fmt.Sprintf("set the driver's kubelet directory to %s (most charts have kubeletDir or kubeletRootDir)", word(s.Kubelet.Root)), Persistent: true}},
		Containers: containers,
	}
}

// mostContainers bounds the containers that a finding names.
const mostContainers = 64

func mountsElsewhere(s *Snapshot) []string {
	k := s.Kubelet
	var all []string
	for _, t := range s.Tasks {
		for _, m := range t.Spec.Mounts {
			if !m.Bind() || m.Requested() != facts.Shared || len(all) == mostContainers {
				continue
			}
			source, ok := facts.CleanAbs(m.Source)
			if !ok {
				continue
			}
			rest, below := facts.Below(source, k.Root)
			if !below && k.Canonical != "" {
				rest, below = facts.Below(source, k.Canonical)
			}
			// A registration socket's directory may be anywhere.
			if !below || rest != "" && rest != "pods" && rest != "plugins" {
				continue
			}
			if want := facts.JoinRoot(k.Root, rest); m.CleanDestination() != want {
				all = append(all, fmt.Sprintf("%s: %s is at %s", containerName(t.Container), word(source), word(m.CleanDestination())))
			}
		}
	}
	return all
}

func containerName(c facts.Container) string {
	if c.Pod.Name == "" {
		return word(c.ID)
	}
	return word(c.Pod.Namespace + "/" + c.Pod.Name + "/" + c.Name)
}

func runtimeOther(r discover.Runtime) *Finding {
	if r.Name == discover.Containerd || r.Name == "" {
		return nil
	}
	return &Finding{
		Code: CodeRuntimeOther, Answer: facts.Yes, Subject: r.Name, Evidence: sourceEvidence(r.Sources),
		Message: fmt.Sprintf("the runtime of this node is %s, not containerd: how mounts propagate is judged in its mount namespace, and what is about containerd alone is not", r.Name),
	}
}

func runtimeDiffers(r discover.Runtime) *Finding {
	if len(r.Disagree) == 0 {
		return nil
	}
	return &Finding{
		Code: CodeRuntimeDiffers, Answer: facts.Yes, Subject: r.State, Evidence: sourceEvidence(r.Sources),
		Message: strings.Join(r.Disagree, "; "),
	}
}
