// Package leftover tells what of a container is still mounted on the host
// after its end, by the runtime's mount table alone. It is pure: it reads
// nothing, and nobody unmounts anything for it.
//
// Most of what a container saw stays mounted, and rightly: volumes of pods
// that live, staging directories, what a CSI driver published. Only what
// nobody else can be in charge of is told: the container's root filesystem,
// the volumes of a pod that has no task any more, what appeared below a path
// that only this container shared with the host, and mounts that doubled.
package leftover
