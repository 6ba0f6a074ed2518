package runtimeconf

import (
	"fmt"
	"slices"
	"strings"
)

// Where the settings of NRI and of its validator belong, as a header.
const (
	NRITable       = `[plugins."` + nriID + `"]`
	ValidatorTable = `[plugins."` + nriID + `".default_validator]`
)

func nriKeys() []string {
	return []string{
		"default_validator", "disable", "disable_connections", "plugin_config_path", "plugin_path",
		"plugin_registration_timeout", "plugin_request_timeout", "socket_path",
	}
}

func validatorKeys() []string {
	return []string{
		"enable", "reject_custom_seccomp_adjustment", "reject_namespace_adjustment", "reject_oci_hook_adjustment",
		"reject_runtime_default_seccomp_adjustment", "reject_sysctl_adjustment", "reject_unconfined_seccomp_adjustment",
		"required_plugins", "tolerate_missing_plugins_annotation",
	}
}

// orphans finds what looks like a setting of NRI and has no effect. Other keys
// that containerd does not know are its own business.
func (l *loader) orphans() {
	for _, f := range l.Files {
		l.strays(l.trees[f.Path], nil)
	}
}

func (l *loader) strays(t *setting, path []string) {
	for _, key := range t.keys() {
		s := t.table[key]
		below := slices.Concat(path, []string{key})
		switch {
		case len(below) == 2 && strings.EqualFold(below[0], "plugins") && key == l.id():
			l.misspelled(s, nriKeys(), validatorKeys(), ValidatorTable)
			l.validator(s.get("default_validator"))
		case s.table != nil && likeNRI(key):
			l.orphan(s, fmt.Sprintf("the table %q has no effect: NRI's settings belong in %s", strings.Join(below, "."), l.header()))
		case stray(key, len(path) == 0):
			header, _ := TableOf(key)
			l.orphan(s, fmt.Sprintf("%q has no effect here: it belongs in %s", key, header))
		default:
			l.strays(s, below)
		}
	}
}

// header is the one of NRI's table.
func (l *loader) header() string {
	if l.id() == nriShortID {
		return "[plugins." + nriShortID + "] while the file has no version"
	}
	return NRITable + ", with the quotes"
}

// misspelled finds keys of the right table that it does not have.
func (l *loader) misspelled(t *setting, known, others []string, othersTable string) {
	if t == nil {
		return
	}
	for _, key := range t.keys() {
		lower := strings.ToLower(key)
		if slices.Contains(known, lower) {
			continue
		}
		if slices.Contains(others, lower) {
			l.orphan(t.table[key], fmt.Sprintf("%q has no effect here: it belongs in %s", key, othersTable))
			continue
		}
		for _, name := range known {
			if near(lower, name) {
				l.orphan(t.table[key], fmt.Sprintf("%q is no setting of NRI and has no effect: did you mean %q?", key, name))
				break
			}
		}
	}
}

func (l *loader) validator(t *setting) {
	if t == nil {
		return
	}
	if l.Release.Before(2, 2) {
		l.orphan(t, fmt.Sprintf("\"default_validator\" has no effect: containerd %s has no validator, 2.2 is the first with one", l.Release))
		return
	}
	l.misspelled(t, validatorKeys(), nriKeys(), NRITable)
}

func (l *loader) orphan(s *setting, message string) {
	l.Orphans = append(l.Orphans, Problem{Position: s.at, Message: message})
}

// stray reports a key that has a meaning in NRI's tables alone. Others, such as
// "disable", are found by the table they stand in.
func stray(key string, top bool) bool {
	switch key {
	case "plugin_registration_timeout", "plugin_request_timeout", "plugin_config_path", "disable_connections",
		"default_validator", "tolerate_missing_plugins_annotation":
		return true
	case "plugin_path", "socket_path":
		return top
	default:
		return strings.HasPrefix(key, "reject_") && slices.Contains(validatorKeys(), key)
	}
}

// TableOf returns the header of the table that a key of NRI belongs in.
func TableOf(key string) (header string, ok bool) {
	switch {
	case slices.Contains(nriKeys(), key):
		return NRITable, true
	case slices.Contains(validatorKeys(), key):
		return ValidatorTable, true
	default:
		return "", false
	}
}

// likeNRI reports a name that was meant for NRI's table: one with the word "nri"
// or nearly the full name.
func likeNRI(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return slices.Contains(strings.Split(name, "."), nriShortID) || near(name, nriID)
}

// near reports that two names differ in one place, by two letters at most.
func near(a, b string) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 2 && len(b) <= 2
}
