// Package verify proves decisions: it compares what was decided about a mount
// with what the kernel's tables say of the running container, by peer-group
// numbers read in one pass and never by the word "shared" alone. A container's
// shared:N may be a group of its own that reaches nobody.
package verify
