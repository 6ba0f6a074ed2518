package manifest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// builder makes the containers of one pod.
type builder struct {
	Options
	of      pods
	uid     string
	volumes map[string]volume
}

// asked is one mount of the list that the runtime is given.
type asked struct {
	facts.Mount
	Note
}

const (
	unknownID = "0000000000000000000000000000000000000000000000000000000000000000"
	tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// mounts fills in the mounts of a container, in the order in which containerd
// will have them: its own file systems, then what the kubelet and itself bind, by
// depth. Source: kubernetes 1.37 pkg/kubelet/kubelet_pods.go makeMounts,
// containerd 2.4.2 internal/cri/opts/spec_linux_opts.go.
func (b *builder) mounts(s *Subject, c container) error {
	if len(c.VolumeMounts) > maxMounts {
		return fmt.Errorf("it has %d mounts", len(c.VolumeMounts))
	}
	var binds []asked
	for i, m := range c.VolumeMounts {
		a, err := b.volumeMount(c, i, m)
		if err != nil {
			return locate(m.line, fmt.Errorf("volumeMounts[%d]: %w", i, err))
		}
		binds = append(binds, a)
	}
	if why := b.token(s.Kind, binds); why != "" {
		binds = append(binds, asked{bind(b.target("kubernetes.io~projected", "kube-api-access-"+anyID), tokenPath, "rprivate", "ro"), Note{MadeBy: MadeByKubelet, Volume: "projected kube-api-access"}})
		s.Unknown = append(s.Unknown[:len(s.Unknown):len(s.Unknown)], facts.Unread{What: "the token at " + tokenPath, Why: why})
	}
	binds = b.own(binds, c)
	slices.SortStableFunc(binds, func(a, b asked) int { return depth(a.Destination) - depth(b.Destination) })
	all := slices.Concat(b.fileSystems(binds, c.Security.Privileged), binds)
	if s.Container.UserNamespace && b.of.spec.HostNetwork {
		all = hostSys(all)
	}
	for _, a := range all {
		s.Container.Mounts, s.Notes = append(s.Container.Mounts, a.Mount), append(s.Notes, a.Note)
	}
	s.RootfsPropagation = RootfsPropagation(s.Container.Mounts)
	return nil
}

// RootfsPropagation is what containerd sets for a list of mounts: the most that
// one of them asks for. Source: containerd 2.4.2
// internal/cri/opts/spec_linux_opts.go.
func RootfsPropagation(mounts []facts.Mount) string {
	result := ""
	for _, m := range mounts {
		switch asked := m.Requested(); {
		case !m.Bind():
		case asked == facts.Shared, asked == facts.Slave && result == "":
			result = asked.Option()
		}
	}
	return result
}

func bind(source, destination, propagation, mode string) facts.Mount {
	return facts.Mount{Source: source, Destination: destination, Type: "bind", Options: []string{"rbind", propagation, mode}}
}

func depth(p string) int { return strings.Count(path.Clean(p), "/") }

func (b *builder) volumeMount(c container, index int, m volumeMount) (asked, error) {
	v, ok := b.volumes[m.Name]
	if !ok {
		return asked{}, fmt.Errorf("no volume is named %q", m.Name)
	}
	if m.MountPath == "" {
		return asked{}, fmt.Errorf("volume %q has no mountPath", m.Name)
	}
	at, err := b.place(v)
	if err != nil {
		return asked{}, err
	}
	propagation, err := m.propagation(c.Security.Privileged)
	if err != nil {
		return asked{}, err
	}
	mode, otherModes, err := m.mode(propagation)
	if err != nil {
		return asked{}, err
	}
	if len(m.other) > 0 {
		at.unknown = strings.TrimPrefix(at.unknown+fmt.Sprintf("; what the keys %q of the mount say is not known here, and left out", m.other), "; ")
	}
	a := asked{Note: Note{Volume: v.called(), Kind: v.shown(), Driver: v.source.Driver, Unknown: at.unknown}}
	source := at.path
	sub, set, err := b.subPath(c, m)
	if err != nil {
		return asked{}, err
	}
	if set {
		a.Note.Volume += ", sub-path " + orElse(m.SubPath, m.SubPathExpr)
		if m.SubPath == "" && sub.why == "" && sub.text != m.SubPathExpr {
			a.Note.Volume += ", here " + sub.text
		}
		a.OnHost = v.onHost()
		sub.under(at.path, &a.Note)
		source, at.others = b.below(at.name, c.Name, index), nil
	}
	destination := m.MountPath
	if !path.IsAbs(destination) {
		destination = "/" + destination
	}
	a.Mount = bind(source, destination, propagation.Option(), mode)
	for _, other := range at.others {
		a.Others = append(a.Others, bind(other, destination, propagation.Option(), mode))
	}
	for _, other := range otherModes {
		a.Unknown = orElse(a.Unknown, "recursiveReadOnly is IfPossible; taken as possible on the node")
		a.Others = append(a.Others, bind(source, destination, propagation.Option(), other))
	}
	return a, nil
}

func (m volumeMount) propagation(privileged bool) (facts.Propagation, error) {
	word := ""
	if m.Propagation != nil {
		word = *m.Propagation
	}
	if word == "" {
		return facts.Private, nil
	}
	for _, p := range []facts.Propagation{facts.Private, facts.Slave, facts.Shared} {
		if p.Kubernetes() != word {
			continue
		}
		if p == facts.Shared && !privileged {
			return p, fmt.Errorf("mount %s: the API server takes Bidirectional of privileged containers only", m.MountPath)
		}
		return p, nil
	}
	return facts.Unset, fmt.Errorf("mountPropagation %q: want None, HostToContainer or Bidirectional", word)
}

// mode is the option for writing, and what it may be as well.
func (m volumeMount) mode(p facts.Propagation) (mode string, others []string, err error) {
	recursive := "Disabled"
	if m.RecursiveReadOnly != nil {
		recursive = *m.RecursiveReadOnly
	}
	switch recursive {
	case "Enabled", "IfPossible":
		if !m.ReadOnly || p != facts.Private {
			return "", nil, fmt.Errorf("mount %s: recursiveReadOnly takes readOnly, and mountPropagation None", m.MountPath)
		}
		if recursive == "IfPossible" {
			others = []string{"ro"}
		}
		return "rro", others, nil
	case "Disabled", "":
		if m.ReadOnly {
			return "ro", nil, nil
		}
		return "rw", nil, nil
	default:
		return "", nil, fmt.Errorf("recursiveReadOnly %q: want Disabled, IfPossible or Enabled", recursive)
	}
}
