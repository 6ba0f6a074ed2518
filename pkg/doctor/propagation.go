package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// The codes of what a path is on, in the mount namespace that a finding names.
const (
	CodeShared         = "shared"          // yes: mounts reach everybody that they must
	CodeNotShared      = "not-shared"      // private
	CodeSlaveOnly      = "slave-only"      // receives and sends nothing
	CodeDownstreamOnly = "downstream-only" // shared with what is below it, receives from the host, sends it nothing
	CodeNotLinked      = "not-linked"      // shared, in a group that the host is not in
	CodeUnresolved     = "path-unresolved" // cannot tell which mount the path is on
	CodeNoNode         = "no-node"         // cannot tell whether a path that is not there must be shared: nothing here runs pods
)

// checkPropagation looks at every required path in every mount namespace that
// matters.
func checkPropagation(s *Snapshot) []Finding {
	n := newNode(s)
	var all []Finding
	for _, sp := range n.spaces {
		for _, path := range s.Require {
			all = append(all, n.path(sp, path)...)
		}
	}
	return append(append(all, n.apart()...), n.hidden()...)
}

// node is the snapshot with what all paths are judged by.
type node struct {
	*Snapshot
	spaces []space
	home   space // the mount namespace that the others must be linked with
	units  map[string]unitRead
}

func newNode(s *Snapshot) *node {
	n := &node{Snapshot: s, spaces: s.spaces(), units: map[string]unitRead{}}
	n.home = n.findHome()
	return n
}

// findHome returns the mount namespace of process 1, unless kubelet and runtime
// are together in another: some distributions hide their mounts from the rest of
// the node, and then that one is what counts.
func (n *node) findHome() space {
	var initial space
	for _, sp := range n.spaces {
		if sp.has(RoleInit) {
			initial = sp
		}
	}
	for _, sp := range n.spaces {
		if sp.has(RoleRuntime) && (initial == nil || sp.has(RoleKubelet)) {
			return sp
		}
	}
	if initial == nil && len(n.spaces) > 0 {
		return n.spaces[0]
	}
	return initial
}

// looked is a path in one mount namespace.
type looked struct {
	space
	path      string // as required
	canonical string
	mount     hostview.Entry // that covers it
}

// look finds the mount that a path is on. The second value says why it cannot
// be told.
func (n *node) look(sp space, path string) (looked, string) {
	at := looked{space: sp, path: path}
	place := sp.first()
	if place.Files == nil {
		return at, place.Why
	}
	var err error
	if at.canonical, err = resolve(n.Context, place.Files, path); err != nil {
		return at, err.Error()
	}
	var ok bool
	if at.mount, ok = place.Table.Covering(at.canonical); !ok {
		return at, "the mount table has no mount at /"
	}
	return at, ""
}

// path judges one path in one mount namespace.
func (n *node) path(sp space, path string) []Finding {
	at, why := n.look(sp, path)
	if why != "" {
		return []Finding{n.unresolved(at, why)}
	}
	if !sp.has(RoleRuntime) && !sp.has(RoleKubelet) && n.home[0].Role != sp[0].Role {
		return nil // only the host's tools are here; see apart
	}
	f := Finding{Subject: path, Where: sp.where(), Answer: facts.No, Evidence: []Evidence{at.evidence(at.mount)}}
	state := at.mount.State
	home, linked := n.linked(at)
	switch {
	case !state.Receives():
		f.Code = CodeNotShared
	case !state.Shared():
		f.Code = CodeSlaveOnly
	case linked:
		f.Code, f.Answer = CodeShared, facts.Yes
	case state.Master != 0:
		f.Code = CodeDownstreamOnly
	default:
		f.Code = CodeNotLinked
	}
	if f.Answer == facts.No && n.noNode(at) {
		return n.whatIfNode(at)
	}
	if initial, shared := n.sharedOutside(at); shared && f.Answer == facts.No {
		f.Evidence = append(f.Evidence, initial.evidence(initial.mount))
	} else if home.canonical != "" && f.Answer == facts.No {
		f.Evidence = append(f.Evidence, home.evidence(home.mount))
	}
	f.Message = n.message(f.Code, at)
	f.Effect = n.effect(f.Code, at)
	f.Cause = n.cause(f.Code, at)
	if f.Answer == facts.No {
		f.Fixes = n.fixes(at)
	}
	return append([]Finding{f}, n.conclusions(at)...)
}

// linked reports whether mounts travel both ways between a path here and at
// home. It returns the path at home where that is another namespace.
func (n *node) linked(at looked) (home looked, ok bool) {
	if at.space[0].Same(n.home[0]) {
		return looked{}, true
	}
	home, why := n.look(n.home, at.path)
	if why != "" {
		return looked{}, false
	}
	return home, at.mount.State.Peer != 0 && at.mount.State.Peer == home.mount.State.Peer
}

func (n *node) unresolved(at looked, why string) Finding {
	f := Finding{
		Code: CodeUnresolved, Answer: facts.Unknown, Subject: at.path, Where: at.where(),
		Message: fmt.Sprintf("cannot tell which mount %s is on: %s", word(at.path), why),
	}
	if e, ok := at.first().Table.Covering(at.path); ok {
		f.Evidence = []Evidence{at.evidence(e)}
		f.Message += fmt.Sprintf("; if no part of it is a symbolic link, it is on %s, which is %s", word(e.MountPoint), e.State)
	}
	return f
}

// evidence is a line of the table and the command that shows it.
func (sp space) evidence(e hostview.Entry) Evidence {
	return Evidence{
		Text: e.Line(),
		Show: fmt.Sprintf("grep '^%d ' /proc/%d/mountinfo", e.ID, sp.first().Process.PID),
	}
}

// message says what a path is on.
func (n *node) message(code string, at looked) string {
	is := map[string]string{
		CodeShared:         "is shared",
		CodeNotShared:      "is private",
		CodeSlaveOnly:      "receives mounts and sends none",
		CodeDownstreamOnly: "is shared with what is below it alone: it receives from the host and sends it nothing",
		CodeNotLinked:      "is shared in a group of its own, which the host is not in",
	}[code]
	if code == CodeNotShared && at.mount.State.Unbindable {
		is = "is private and unbindable"
	}
	subject := word(at.path)
	if at.canonical != at.path {
		subject += " (" + word(at.canonical) + " without symbolic links)"
	}
	text := fmt.Sprintf("%s is on the mount at %s (id %d, %s), which %s", subject, word(at.mount.MountPoint), at.mount.ID, at.mount.State, is)
	if code == CodeShared && at.mount.State.Master != 0 {
		text += "; it also receives from a group outside, to which nothing is sent"
	}
	return text
}

// word writes a name so that it cannot be taken for anything else.
func word(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' || r == '\'' }) < 0
	if plain {
		return s
	}
	return fmt.Sprintf("%q", s)
}
