package runtimeconf

import (
	"context"
	"errors"
	"fmt"

	"github.com/mountward/mountward/pkg/internal/strict"
)

// maxFiles is how many files are read; containerd has no limit.
const maxFiles = 256

// Load reads the configuration whose main file is at path, an absolute one, as
// the release of containerd reads it. Where the release is not known, what the
// versions of the files imply is used, else the rules of 2.x.
func Load(ctx context.Context, files Files, path string, release Release) *Config {
	l := &loader{ctx: ctx, files: files, Config: &Config{Path: path, Release: release, Complete: true}, trees: map[string]*setting{}, asked: map[string]bool{}}
	l.load()
	l.unused()
	l.least = release
	for _, f := range l.Files {
		if least := implied(f.Version); !release.Known() && !l.least.AtLeast(least.Major, least.Minor) {
			l.least = least
		}
	}
	l.versions()
	l.lists()
	l.effective(l.plugins())
	l.orphans()
	return l.Config
}

type loader struct {
	ctx   context.Context
	files Files
	*Config
	trees map[string]*setting // by path
	asked map[string]bool     // the paths that were tried
	least Release             // that this is, or that is the earliest it can be
}

// wanted is a file to be read, and the line that asks for it.
type wanted struct {
	path string
	by   Position
}

// load reads the files breadth first, each path once, as spelled.
func (l *loader) load() {
	pending := []wanted{{path: l.Path}}
	for len(pending) > 0 {
		w := pending[0]
		pending = pending[1:]
		if l.asked[w.path] {
			continue
		}
		if len(l.asked) == maxFiles {
			l.incomplete(w.by, fmt.Sprintf("more than %d files are imported", maxFiles))
			return
		}
		l.asked[w.path] = true
		if tree := l.read(w); tree != nil {
			pending = append(pending, l.imports(w.path, tree)...)
		}
	}
}

// read returns nil for a file that is not there or cannot be read.
func (l *loader) read(w wanted) *setting {
	text, err := l.files.ReadFile(l.ctx, w.path, strict.MaxSize)
	main := w.by == Position{}
	switch {
	case absent(err) && main && w.path == DefaultPath:
		return nil
	case absent(err):
		l.Found = l.Found || main
		p := Problem{Position: w.by, Message: fmt.Sprintf("%q does not exist", w.path), Missing: true}
		if main {
			p.Position = Position{File: w.path}
		}
		l.Refused = append(l.Refused, p)
		return nil
	case err != nil:
		l.Found = true
		if _, dir := l.files.ReadDir(l.ctx, w.path, maxNames); dir == nil {
			l.refuse(Position{File: w.path}, "is a directory")
			return nil
		}
		l.incomplete(Position{File: w.path}, err.Error())
		return nil
	}
	l.Found = true
	tree, err := parse(w.path, text)
	var wrong strict.Errors
	if errors.As(err, &wrong) {
		l.refuse(position(wrong[0].Position, lines(text)), wrong[0].Message)
		return nil
	}
	l.trees[w.path] = tree
	version, _ := integer(l, tree.get("version"), "version")
	l.Files = append(l.Files, File{w.path, version})
	return tree
}

// imports returns what a file imports.
func (l *loader) imports(path string, tree *setting) []wanted {
	key := tree.get("imports")
	patterns, _ := list(l, key, "imports")
	var all []wanted
	for _, pattern := range patterns {
		pattern = absolute(path, pattern)
		l.Imports = append(l.Imports, pattern)
		paths, err := resolve(l.ctx, l.files, pattern)
		if err != nil {
			l.incomplete(key.at, fmt.Sprintf("import %q: %v", pattern, err))
		}
		for _, p := range paths {
			all = append(all, wanted{p, key.at})
		}
	}
	return all
}

// unused finds drop-ins that nobody reads. Another main file than the usual one
// has its own place for them.
func (l *loader) unused() {
	if l.Path != DefaultPath {
		return
	}
	paths, err := resolve(l.ctx, l.files, DropIns)
	if err != nil {
		l.Unread = append(l.Unread, Problem{Position: Position{File: DropIns}, Message: err.Error()})
	}
	asked := map[string]bool{}
	for path := range l.asked {
		asked[l.canonical(path)] = true
	}
	for _, path := range paths {
		if !l.asked[path] && !asked[l.canonical(path)] {
			l.Unused = append(l.Unused, path)
		}
	}
}

// canonical returns a path without links, or as it is where that is not known.
func (l *loader) canonical(path string) string {
	canonical, err := l.files.Canonical(l.ctx, path)
	if err != nil {
		return path
	}
	return canonical
}

func (l *loader) refuse(at Position, message string) {
	l.Refused = append(l.Refused, Problem{Position: at, Message: message})
}

// incomplete notes that something that counts is not known.
func (l *loader) incomplete(at Position, message string) {
	l.Complete = false
	l.Unread = append(l.Unread, Problem{Position: at, Message: message})
}
