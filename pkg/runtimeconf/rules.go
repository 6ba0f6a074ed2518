package runtimeconf

import (
	"fmt"
	"slices"
	"strings"
)

// The name of NRI among containerd's plugins, and its short one in files of
// version 1.
const (
	nriID      = "io.containerd.nri.v1.nri"
	nriShortID = "nri"
	grpcID     = "io.containerd.server.v1.grpc"
)

// version is the one of the files together in 1.x: the last that is written.
func (l *loader) version() int {
	version := 1
	for _, f := range l.Files {
		if f.Version != 0 {
			version = f.Version
		}
	}
	return version
}

// id is the name that NRI's table must have.
func (l *loader) id() string {
	if l.Release.one() && l.version() < 2 {
		return nriShortID
	}
	return nriID
}

// versions finds files that the release is too old for. 2.x converts each file
// from its own version, one without from version 1.
func (l *loader) versions() {
	for _, f := range l.Files {
		if most := l.Release.newest(); f.Version > most {
			l.refuse(l.trees[f.Path].get("version").at,
				fmt.Sprintf("version %d is newer than this containerd reads: %d is its newest", f.Version, most))
		}
	}
}

// lists finds names of plugins that containerd refuses.
func (l *loader) lists() {
	for _, f := range l.Files {
		if l.Release.one() && l.version() < 2 || !l.Release.one() && f.Version < 2 {
			continue
		}
		tree := l.trees[f.Path]
		for _, key := range []string{"disabled_plugins", "required_plugins"} {
			s := tree.get(key)
			names, _ := list(l, s, key)
			for _, name := range names {
				if !l.uri(name) {
					l.refuse(s.at, fmt.Sprintf("%s: %q is no name of a plugin of containerd, such as %q", key, name, nriID))
				}
			}
		}
		if plugins := tree.get("plugins"); l.Release.one() && plugins != nil {
			for _, name := range plugins.keys() {
				if !l.uri(name) {
					l.refuse(plugins.table[name].at, fmt.Sprintf("plugins: %q is no name of a plugin of containerd, such as %q", name, nriID))
				}
			}
		}
	}
}

func (l *loader) uri(name string) bool {
	if l.Release.one() {
		return strings.HasPrefix(name, "io.containerd.") && strings.Count(name, ".") >= 3
	}
	return strings.Contains(name, ".")
}

// plugins lays the tables of all files over each other: 2.x key by key, 1.x
// plugin by plugin. It notes what of NRI is overridden or lost.
func (l *loader) plugins() *setting {
	merged, id, tables := &setting{table: map[string]*setting{}}, l.id(), 0
	for _, f := range l.Files {
		plugins := l.trees[f.Path].get("plugins")
		if plugins == nil {
			continue
		}
		if plugins.table == nil {
			l.wrong(plugins, "plugins", "a table")
			continue
		}
		if table := plugins.table[id]; table != nil {
			tables++
			l.compare(merged.table[id], table, "")
		}
		if !l.Release.one() {
			merged.merge(plugins)
			continue
		}
		for name, table := range plugins.table {
			merged.table[name] = table.clone()
		}
	}
	if tables > 1 && !l.least.Known() {
		l.incomplete(Position{File: l.Path}, "containerd's release is not known, and 1.x would use NRI's table of the last file alone")
	}
	return merged
}

// compare notes which settings of NRI's table a later one overrides or loses.
func (l *loader) compare(old, later *setting, above string) {
	if old == nil {
		return
	}
	for _, key := range old.keys() {
		was, is := old.table[key], later.get(key)
		switch {
		case is == nil && l.Release.one():
			l.Lost = append(l.Lost, Problem{Position: was.at, Message: fmt.Sprintf(
				"%s is lost: the table at %s takes the place of this one", above+key, later.at)})
		case is == nil:
		case was.table != nil && is.table != nil:
			l.compare(was, is, above+key+".")
		default:
			l.Overridden = append(l.Overridden, Override{above + key, was.at, is.at})
		}
	}
}

// disabled returns where NRI is in the list of disabled plugins.
func (l *loader) disabled() (Position, bool) {
	for _, f := range l.Files {
		s := l.trees[f.Path].get("disabled_plugins")
		if s == nil {
			continue
		}
		items, _ := s.value.([]any)
		if slices.Contains(items, any(l.id())) {
			return s.at, true
		}
	}
	return Position{}, false
}
