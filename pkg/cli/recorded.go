package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/learn"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/settings"
	"github.com/mountward/mountward/pkg/volumes"
)

// recordedOptions say which containers a verb is about that is about all: those
// that run on the node, or those of a trail.
type recordedOptions struct {
	node  nodeOptions
	trail string
}

func (o *recordedOptions) flags(c *cobra.Command) {
	o.node.flags(c)
	c.Flags().StringVar(&o.trail, "trail", "", "the containers of a trail, not those of this node: `file` (audit.jsonl, or what journalctl -o json prints), or - for standard input")
	_ = c.MarkFlagFilename("trail", "jsonl", "json") // fails only for a flag that is not there
}

func (o *recordedOptions) check(c *cobra.Command) error {
	if err := notEmpty(c, nil, "trail", "config", "state"); err != nil {
		return &exit{ExitUsage, err}
	}
	if o.trail != "" && c.Flags().Changed("state") {
		return &exit{ExitUsage, errors.New("--state is about this node, and --trail about a trail")}
	}
	return nil
}

// recorded are containers as they asked to be.
type recorded struct {
	from     string
	settings settings.Settings
	node     *node // nil for those of a trail; who has it closes it
	values   values
	subjects []manifest.Subject
	changed  int // mounts that have another propagation than they asked for
	unknown  []facts.Unread
}

func (r *recorded) close() {
	if r.node != nil {
		r.node.close()
	}
}

// trailWait is how long a trail is read: it may come through a pipe.
const trailWait = time.Hour

// readTrail reads the trail, nil where none was asked for.
func (o *recordedOptions) readTrail(c *cobra.Command) (*learn.Trail, error) {
	if o.trail == "" {
		return nil, nil
	}
	t, err := wait.For(c.Context(), trailWait, func() (learn.Trail, error) {
		if o.trail == "-" {
			return learn.ReadTrail(c.InOrStdin())
		}
		f, err := os.Open(o.trail)
		if err != nil {
			return learn.Trail{}, errors.Unwrap(err)
		}
		defer func() { _ = f.Close() }() // nothing was written
		return learn.ReadTrail(f)
	}, nil)
	if err == nil && t.Records == 0 {
		err = errors.New("it has no record of the mounts of a container")
	}
	if err != nil {
		return nil, &exit{ExitCannotTell, fmt.Errorf("read trail %s: %w", show.Word(o.trail), err)}
	}
	return &t, nil
}

// find finds the containers.
func (o *recordedOptions) find(ctx context.Context, m machine, s settings.Settings, t *learn.Trail, at step) (recorded, error) {
	r := recorded{settings: s}
	if t != nil {
		r.from, r.values, r.unknown, r.changed = "a trail", valuesWithout(s), t.Unknown, t.Changed
		for _, c := range t.Containers {
			r.subjects = append(r.subjects, recordedSubject(c))
		}
		return r, nil
	}
	n, err := o.node.open(ctx, m, s, at)
	if err != nil {
		return r, &exit{ExitCannotTell, err}
	}
	r.from, r.node, r.values = "the containers of a node", n, n.values()
	if len(n.states) == 0 {
		n.close()
		text := n.searched()
		for _, u := range n.unknown {
			text += "; " + show.Line(u.What) + ": " + show.Line(u.Why)
		}
		return r, &exit{ExitCannotTell, errors.New(text)}
	}
	at("the containers")
	survey := n.survey(ctx)
	r.unknown = ofContainers(survey.Unknown)
	for _, member := range survey.Members {
		r.add(member)
	}
	return r, nil
}

// add takes a container of the node where it runs and is one of a pod. Where it is
// not known what it asked for, though it may have been written down, its mounts are
// no answer.
func (r *recorded) add(m volumes.Member) {
	if m.Sandbox || m.Ended || m.Namespace != kubernetes {
		return
	}
	s := subjectOf(m)
	if !m.Known && m.KnownWhy != "" {
		r.unknown = append(r.unknown, s.Unknown...)
	}
	for _, o := range m.Outcomes {
		if learn.Changed(o) {
			r.changed++
		}
	}
	r.subjects = append(r.subjects, s)
}

// recordedSubject is a container of a trail, which does not have the annotations of
// pods.
func recordedSubject(c facts.Container) manifest.Subject {
	return manifest.Subject{
		From: "container of a trail", Kind: manifest.KindContainer, Container: c,
		Notes: make([]manifest.Note, len(c.Mounts)), Missing: []string{"pod_annotations", "static_pod"},
		RootfsPropagation: manifest.RootfsPropagation(c.Mounts),
	}
}
