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

// source is a file that was read, or why it could not be.
type source struct {
	name string // as a person reads it
	data []byte
	err  error
}

// readFiles reads the manifests or the like.
func (o *explainOptions) readFiles(c *cobra.Command) (all []source) {
	for _, name := range o.files {
		s := source{name: name}
		if name == "-" {
			s.name = stdin
		}
		if s.data, s.err = readFile(c, name); s.err != nil {
			s.err = &exit{ExitCannotTell, fmt.Errorf("read %s: %w\nhint: give a file, or - for standard input", show.Word(s.name), s.err)}
		}
		all = append(all, s)
	}
	return all
}

// readFile reads one. Standard input may be typed by a person and is waited for, and
// so is what stands behind a pipe for a time; a device may have no end.
func readFile(c *cobra.Command, name string) ([]byte, error) {
	read := func(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, manifest.MaxSize+1)) }
	if name == "-" {
		return read(c.InOrStdin())
	}
	return wait.For(c.Context(), settingsWait, func() ([]byte, error) {
		info, err := os.Stat(name)
		if err != nil {
			return nil, errors.Unwrap(err)
		}
		switch mode := info.Mode(); {
		case mode.IsDir():
			return nil, errors.New("it is a directory, not a file")
		case !mode.IsRegular() && mode&os.ModeNamedPipe == 0:
			return nil, errors.New("it is neither a file nor a pipe")
		case info.Size() > manifest.MaxSize:
			return nil, fmt.Errorf("larger than %d MiB", manifest.MaxSize>>20)
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, errors.Unwrap(err)
		}
		defer func() { _ = f.Close() }() // nothing was written
		return read(f)
	}, nil)
}

// subjects reads the containers of a file. One that is not understood is not judged:
// nothing can be told.
func (o *explainOptions) subjects(from source, v values) (manifest.File, error) {
	if from.err != nil {
		return manifest.File{}, from.err
	}
	f, err := manifest.Read(from.data, manifest.Options{
		Namespace: o.namespace, Static: o.static,
		KubeletRoot: v.KubeletRoot, RuntimeRoot: v.RuntimeRoot, RuntimeState: v.RuntimeState,
	})
	if err != nil {
		var at *manifest.Error
		where := show.Word(from.name)
		if errors.As(err, &at) && at.Line > 0 {
			where, err = fmt.Sprintf("%s:%d", where, at.Line), at.Err
		}
		return f, &exit{ExitCannotTell, fmt.Errorf("%s: %s", where, show.Line(err.Error()))}
	}
	for i := range f.Subjects {
		if err := specified(&f.Subjects[i]); err != nil {
			return f, &exit{ExitCannotTell, fmt.Errorf("%s: %s", show.Word(from.name), show.Line(err.Error()))}
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
	s.Container.Labels, s.Container.Pod.Annotations = beside.Labels, beside.Pod.Annotations
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
