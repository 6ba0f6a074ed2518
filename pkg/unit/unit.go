package unit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Files reads the files of the service manager's mount namespace. A path that
// leads nowhere is an error matching fs.ErrNotExist.
type Files interface {
	Canonical(ctx context.Context, path string) (string, error)
	ReadFile(ctx context.Context, path string, limit int) ([]byte, error)
	ReadDir(ctx context.Context, path string, limit int) ([]string, error)
}

// Unit is what the files of a unit say together.
type Unit struct {
	Name     string
	Fragment string   // "" where there is none: then systemd made it up at run time, or it has drop-ins only
	Masked   bool     // the fragment leads to /dev/null, or is empty
	DropIns  []string // in the order in which they are read
	// Settings are all that count, in the order in which they are read. An empty
	// assignment takes back what was said of its key before it.
	Settings []Setting
}

// The bounds of what is read.
const (
	maxFile    = 1 << 20 // bytes
	maxEntries = 4096    // of a drop-in directory
)

// directories are where system units are, the strongest first. Source:
// systemd.unit(5), of systemd 257.
func directories() []string {
	return []string{
		"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient",
		"/run/systemd/generator.early", "/etc/systemd/system", "/etc/systemd/system.attached",
		"/run/systemd/system", "/run/systemd/system.attached", "/run/systemd/generator",
		"/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
		"/run/systemd/generator.late",
	}
}

// Load reads the files of a unit. The error says what could not be read; the
// Unit is then what could be. Without any file it is an error matching
// fs.ErrNotExist.
func Load(ctx context.Context, files Files, name string) (*Unit, error) {
	u := &Unit{Name: name}
	if !validName(name) {
		return u, fmt.Errorf("read unit %q: not the name of a unit", name)
	}
	l := loader{ctx: ctx, files: files}
	var all []Setting
	for _, candidate := range []string{name, template(name)} {
		if candidate == "" || u.Fragment != "" {
			continue
		}
		u.Fragment, u.Masked, all = l.fragment(candidate)
	}
	for _, file := range l.dropIns(name) {
		text, ok := l.read(file)
		if ok {
			u.DropIns = append(u.DropIns, file)
			all = append(all, Parse(file, text)...)
		}
	}
	u.Settings = effective(all)
	err := errors.Join(l.errs...)
	if err == nil && u.Fragment == "" && len(u.DropIns) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return u, fmt.Errorf("read unit %s: %w", name, err)
	}
	return u, nil
}

// Values returns what is said of a key, in order. Of one that is no list the
// last counts.
func (u *Unit) Values(section, key string) []Setting {
	var all []Setting
	for _, s := range u.Settings {
		if s.Section == section && s.Key == key {
			all = append(all, s)
		}
	}
	return all
}

// effective drops what a later empty assignment takes back, and those
// themselves.
func effective(all []Setting) []Setting {
	var kept []Setting
	for _, s := range all {
		if s.Value == "" {
			kept = slices.DeleteFunc(kept, func(k Setting) bool { return k.Section == s.Section && k.Key == s.Key })
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

type loader struct {
	ctx   context.Context
	files Files
	errs  []error
}

// fragment finds the strongest file of the name.
func (l *loader) fragment(name string) (file string, masked bool, all []Setting) {
	for _, dir := range directories() {
		file := dir + "/" + name
		if leads, err := l.files.Canonical(l.ctx, file); err == nil && leads == "/dev/null" {
			return file, true, nil
		}
		if text, ok := l.read(file); ok {
			return file, len(text) == 0, Parse(file, text)
		}
	}
	return "", false, nil
}

// dropIns returns the files that add to a unit, in the order in which they are
// read: by their names, whatever directory they are in. Of two with one name
// the stronger directory's counts.
func (l *loader) dropIns(name string) []string {
	byName := map[string]string{}
	for _, dir := range dropInDirectories(name) {
		names, err := l.files.ReadDir(l.ctx, dir, maxEntries)
		if err != nil {
			l.failed(err)
			continue
		}
		for _, n := range names {
			if byName[n] == "" && strings.HasSuffix(n, ".conf") {
				byName[n] = dir + "/" + n
			}
		}
	}
	var names, all []string
	for n := range byName {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		all = append(all, byName[n])
	}
	return all
}

// dropInDirectories returns NAME.d, of an instance that of its template, those
// of the names cut at each dash, and last that of the type, in every directory.
func dropInDirectories(name string) []string {
	suffix := path.Ext(name)
	names := []string{name}
	stem := strings.TrimSuffix(name, suffix)
	if t := template(name); t != "" {
		names = append(names, t)
		stem, _, _ = strings.Cut(stem, "@")
	}
	for i := len(stem) - 2; i > 0; i-- {
		if stem[i] == '-' {
			names = append(names, stem[:i+1]+suffix)
		}
	}
	var all []string
	for _, dir := range directories() {
		for _, n := range names {
			all = append(all, dir+"/"+n+".d")
		}
	}
	for _, dir := range directories() {
		all = append(all, dir+"/"+suffix[1:]+".d")
	}
	return all
}

// template returns "getty@.service" of "getty@tty1.service", "" of what is no
// instance.
func template(name string) string {
	before, after, ok := strings.Cut(name, "@")
	suffix := path.Ext(name)
	if !ok || after == suffix {
		return ""
	}
	return before + "@" + suffix
}

// validName reports whether a name can be a unit's: it is used in a path.
func validName(name string) bool {
	suffix := path.Ext(name)
	return len(name) <= 255 && len(suffix) > 1 && len(suffix) < len(name) && !strings.ContainsAny(name, "/\x00")
}

func (l *loader) read(file string) ([]byte, bool) {
	text, err := l.files.ReadFile(l.ctx, file, maxFile)
	if err != nil {
		l.failed(err)
		return nil, false
	}
	return text, true
}

func (l *loader) failed(err error) {
	if !errors.Is(err, fs.ErrNotExist) {
		l.errs = append(l.errs, err)
	}
}
