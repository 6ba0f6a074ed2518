package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
	"github.com/mountward/mountward/pkg/volumes"
)

// run explains containers.
func (o *explainOptions) run(c *cobra.Command, m machine) error {
	files := o.readFiles(c)
	if len(files) == 1 && files[0].err != nil {
		return files[0].err
	}
	s, err := o.node.load(c)
	if err != nil {
		return err
	}
	p, err := o.decidedBy(c, s)
	if err != nil {
		return err
	}
	x, err := bounded(c.Context(), m.most, func(ctx context.Context, at step) (show.Explanation, error) {
		return o.explanation(ctx, m, s, p, files, at)
	})
	if err != nil {
		tellUnknown(c.ErrOrStderr(), x.Unknown) // why it may not have been found
		return err
	}
	if x, err = o.only(x); err != nil {
		return err
	}
	tellUnknown(c.ErrOrStderr(), x.Unknown)
	for _, warning := range x.Warnings {
		fmt.Fprintf(c.ErrOrStderr(), "mountward: %s\n", show.Line(warning))
	}
	for _, passed := range x.Passed {
		fmt.Fprintf(c.ErrOrStderr(), "mountward: passed over: %s\n", show.Line(passed))
	}
	if o.output == formatJSON {
		err = show.JSON(c.OutOrStdout(), x)
	} else {
		if !o.all && len(o.mounts) == 0 {
			for i := range x.Containers {
				x.Containers[i] = x.Containers[i].Visible()
			}
		}
		err = show.ExplainText(c.OutOrStdout(), x)
	}
	if err != nil {
		return err
	}
	return code(x)
}

// explanation finds the containers and decides about each.
func (o *explainOptions) explanation(ctx context.Context, m machine, s settings.Settings, p *policy.Policy, files []source, at step) (show.Explanation, error) {
	x := show.Explanation{Schema: show.ExplainSchema, Policy: audit.Policy{Name: p.Name, SHA256: p.SHA256, Mode: string(p.Mode)}}
	var n *node
	if !o.noHost {
		var err error
		if n, err = o.node.open(ctx, m, s, at); err != nil {
			return x, &exit{ExitCannotTell, err}
		}
		defer n.close()
		shown := n.shown()
		x.Node = &shown
	}
	at("the paths of the policy")
	j := judgeOf(ctx, p, s, n)
	f, err := o.find(ctx, n, j, files, at, &x)
	if err != nil {
		return x, err
	}
	x.Passed = f.Passed
	for _, subject := range f.Subjects {
		at("the mounts of container " + subject.Container.Name)
		x.Containers = append(x.Containers, j.explain(ctx, subject))
	}
	return x, nil
}

func (o *explainOptions) find(ctx context.Context, n *node, j judge, files []source, at step, x *show.Explanation) (manifest.File, error) {
	var f manifest.File
	for _, from := range files {
		at("the file " + from.name)
		one, err := o.subjects(from, j.env.Vars)
		if err != nil && len(files) == 1 {
			return f, err
		}
		if err != nil { // the others are told all the same
			first, _, _ := strings.Cut(err.Error(), "\n")
			x.Unknown = append(x.Unknown, facts.Unread{What: "the pods of a file", Why: first})
			continue
		}
		f.Subjects, f.Passed = append(f.Subjects, one.Subjects...), append(f.Passed, one.Passed...)
		for _, w := range one.Warnings {
			x.Warnings = append(x.Warnings, fmt.Sprintf("%s:%d: %s", show.Word(from.name), w.Line, w.Text))
		}
	}
	if len(files) > 0 {
		return f, nil
	}
	at("the containers")
	survey := n.survey(ctx)
	members, err := named(survey, o.container)
	if err != nil {
		return manifest.File{}, err
	}
	if len(members) == 0 {
		x.Unknown = ofContainers(survey.Unknown)
		return manifest.File{}, &exit{ExitCannotTell, fmt.Errorf("no container or pod is %s: %s", show.Word(o.container), n.searched())}
	}
	for _, m := range members {
		f.Subjects = append(f.Subjects, subjectOf(m))
	}
	return f, nil
}

// named returns the containers that a text names: the one whose id begins so, else
// those of the name. The pause container of a pod is asked of nobody.
func named(s volumes.Survey, text string) ([]volumes.Member, error) {
	var byID, byName []volumes.Member
	for _, m := range s.Select(volumes.Filter{Name: text}).Members {
		if m.Sandbox {
			continue
		}
		if strings.HasPrefix(m.Container.ID, text) {
			byID = append(byID, m)
		} else {
			byName = append(byName, m)
		}
	}
	if len(byID) > 1 {
		var ids []string
		for _, m := range byID {
			ids = append(ids, show.Word(m.Container.ID[:min(len(m.Container.ID), len(text)+8)]))
		}
		return nil, &exit{ExitUsage, fmt.Errorf("%d containers begin with %s: %s", len(byID), show.Word(text), strings.Join(ids[:min(len(ids), maxTold)], ", "))}
	}
	if len(byID) == 1 {
		return byID, nil
	}
	return byName, nil
}

// subjectOf is a container of the node as it asked to be: what mountward wrote
// down at its creation, else what its specification has, which is what it was made
// with.
func subjectOf(m volumes.Member) manifest.Subject {
	s := manifest.Subject{From: "container of this node", Kind: manifest.KindContainer, Container: m.Container}
	s.Container.Mounts = nil
	for _, o := range m.Outcomes {
		mount := o.Mount
		mount.Host, mount.HostWhy, mount.Actual = nil, "", facts.Identity{}
		s.Container.Mounts = append(s.Container.Mounts, mount)
	}
	s.Notes = make([]manifest.Note, len(s.Container.Mounts))
	s.RootfsPropagation = manifest.RootfsPropagation(s.Container.Mounts)
	if m.Known {
		s.Missing = []string{"pod_annotations"}
		return s
	}
	s.Missing = []string{"pod_labels", "pod_annotations", "static_pod", "runtime_handler"}
	why := m.KnownWhy
	if why == "" {
		why = "mountward did not see its creation, or its record is gone"
	}
	s.Unknown = []facts.Unread{{What: "what it asked for, and the labels of its pod", Why: why + "; the mounts are those that it was made with"}}
	return s
}

// only leaves what --mount asks for.
func (o *explainOptions) only(x show.Explanation) (show.Explanation, error) {
	if len(o.mounts) == 0 {
		return x, nil
	}
	found := map[string]bool{}
	for _, mount := range o.mounts {
		want, _ := facts.CleanAbs(mount) // it is absolute
		found[want] = false
	}
	for i := range x.Containers {
		e := &x.Containers[i]
		e.Mounts = slices.DeleteFunc(e.Mounts, func(m show.ExplainedMount) bool {
			_, wanted := found[m.Mount.CleanDestination()]
			if wanted {
				found[m.Mount.CleanDestination()] = true
			}
			return !wanted
		})
		e.Verdict = worst(e.Mounts)
	}
	for _, mount := range o.mounts {
		if want, _ := facts.CleanAbs(mount); !found[want] {
			return x, &exit{ExitUsage, fmt.Errorf("--mount %s: no container that was asked for has a mount there", show.Word(mount))}
		}
	}
	x.Containers = slices.DeleteFunc(x.Containers, func(e show.Explained) bool { return len(e.Mounts) == 0 })
	return x, nil
}

// code is the exit code for all containers and files together: that of the worst.
func code(x show.Explanation) error {
	result := ExitYes
	if len(x.Unknown) > 0 {
		result = ExitCannotTell
	}
	for _, e := range x.Containers {
		switch e.Verdict {
		case show.VerdictDeny:
			return &exit{code: ExitNo}
		case show.VerdictUnknown:
			result = ExitCannotTell
		}
	}
	if result != ExitYes {
		return &exit{code: result}
	}
	return nil
}
