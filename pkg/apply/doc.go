// Package apply makes decisions true. Spec does it through the OCI
// specification, by an NRI adjustment that replaces mounts; it needs no
// capability. What the specification cannot carry is left or refused, with the
// reason, as the rule or the settings say.
package apply
