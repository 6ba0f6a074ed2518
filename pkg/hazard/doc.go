// Package hazard finds dangerous lists of mounts: those that put mounts on the
// host nobody meant to put there, that double at every restart, that hide each
// other, or that promise what the kernel does not keep. It is pure: the answer
// is a function of the list and a few paths of the node, and costs about as
// much as reading the list.
//
// A list is looked at three times: as it was asked for, as the policy decided
// it, and, at the start of the container, as the kernel has it. Before the
// start the image is not mounted, so where a destination leads through a
// symbolic link of the image is only supposed, and the hazard says so.
package hazard
