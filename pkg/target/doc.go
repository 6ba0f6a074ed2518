// Package target finds out what a person means by the name of a volume: which
// superblocks and block devices, whatever it is called. It is what the verbs
// that ask about one volume begin with.
//
// A target is a logical volume (VG/LV), a block device or its number, a path, a
// container or pod, or a namespace by its file. Identity is the superblock and
// the path inside it, never a spelling.
package target
