package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/manifest"
)

// readFile reads a manifest or the like. Standard input may be typed by a person
// and is waited for.
func (o *explainOptions) readFile(c *cobra.Command) ([]byte, error) {
	read := func(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, manifest.MaxSize+1)) }
	if o.file == "-" {
		return read(c.InOrStdin())
	}
	return wait.For(c.Context(), settingsWait, func() ([]byte, error) {
		f, err := os.Open(o.file)
		if err != nil {
			return nil, errors.Unwrap(err)
		}
		defer func() { _ = f.Close() }() // nothing was written
		return read(f)
	}, nil)
}

// subjects reads the containers of the file.
func (o *explainOptions) subjects(data []byte, v values) (manifest.File, error) {
	name := o.file
	if name == "-" {
		name = stdin
	}
	f, err := manifest.Read(data, manifest.Options{
		Namespace: o.namespace, Static: o.static,
		KubeletRoot: v.KubeletRoot, RuntimeRoot: v.RuntimeRoot, RuntimeState: v.RuntimeState,
	})
	if err != nil {
		var at *manifest.Error
		where := show.Word(name)
		if errors.As(err, &at) && at.Line > 0 {
			where, err = fmt.Sprintf("%s:%d", where, at.Line), at.Err
		}
		return f, &exit{ExitUsage, fmt.Errorf("%s: %s", where, show.Line(err.Error()))}
	}
	for i := range f.Subjects {
		if err := specified(&f.Subjects[i]); err != nil {
			return f, &exit{ExitUsage, fmt.Errorf("%s: %s", show.Word(name), show.Line(err.Error()))}
		}
	}
	return f, nil
}

// specified fills in what an OCI specification says of a container.
func specified(s *manifest.Subject) error {
	if s.Spec == nil {
		return nil
	}
	spec, err := hostview.ParseSpec(s.Spec)
	if err != nil {
		return err
	}
	beside := s.Container
	s.Container = spec.Container(hostview.Bundle{Dir: "/"})
	s.Container.ID = beside.ID
	for _, member := range []struct {
		to   *string
		from string
	}{
		{&s.Container.Name, beside.Name},
		{&s.Container.Image, beside.Image},
		{&s.Container.Pod.Name, beside.Pod.Name},
		{&s.Container.Pod.Namespace, beside.Pod.Namespace},
		{&s.Container.Pod.UID, beside.Pod.UID},
	} {
		if *member.to == "" {
			*member.to = member.from
		}
	}
	s.Container.Labels = beside.Labels
	s.RootfsPropagation = spec.RootfsPropagation
	s.Notes = make([]manifest.Note, len(s.Container.Mounts))
	if s.Container.Pod.Name == "" {
		s.Missing = append(s.Missing, "namespace", "pod", "container")
	}
	if spec.Sandbox() {
		return errors.New("it is of the pause container of a pod, which plugins are not asked about")
	}
	return nil
}
