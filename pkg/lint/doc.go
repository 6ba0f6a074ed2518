// Package lint finds what a policy says and its author did not mean: rules that
// no mount ever comes to, globs that nothing can match, exemptions that a tenant
// can take, changes that lose data. It is pure, like the policy: no file is
// read and no node is looked at.
//
// A finding never keeps a policy from being loaded. Each has a code with a page;
// see Page. A policy silences one with the key lint_ignore, in a rule or at the
// top of the file.
package lint
