// Package apply makes decisions true. Spec does it through the OCI
// specification, by an NRI adjustment that replaces mounts; it needs no
// capability. Namespace does it in the mount namespace of a container that is made
// and does not run yet, for what the specification cannot carry. What neither can
// is left or refused, with the reason, as the rule or the settings say.
package apply
