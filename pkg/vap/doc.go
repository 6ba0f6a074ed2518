// Package vap writes what a Kubernetes API server can judge of a policy as a
// ValidatingAdmissionPolicy, so that the owner of a pod meets a refusal when the
// manifest is applied. The node decides all the same: what is written here only
// ever refuses what the node would refuse.
//
// That holds because every condition is written in two readings of what a
// manifest shows: that it surely holds, and that it may. A rule that denies is
// written so that it matches where it surely does, one that allows or sets so
// that it matches where it may. Fewer mounts reach a deny and fewer are held by
// it than on the node, so the first deciding rule denies only where it does
// there too. A key that no manifest shows (a hazard, the image as the runtime
// names it) may always hold and never surely does, and needs no case of its own:
// a deny that asks for it never matches and is left out, an allow lets more through.
//
// One thing is taken for granted, since no manifest shows it: a hostPath has no
// symbolic link in it but those that every distribution has (see links), and is
// no second way to a directory that has another. An allow by source therefore
// does not hold for a link to an allowed directory, while it does on the node.
//
// Where the API server cannot evaluate (too many mounts for its cost limit), the
// object passes: failurePolicy is Ignore, and the node decides.
package vap
