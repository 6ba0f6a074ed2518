// Package runtimeconf reads containerd's configuration as containerd does: with
// its imports, its rules of merging and its defaults, which differ by release.
// It says what holds for NRI and where in which file each value is set, what a
// reader of the files would think holds and does not, and at what containerd
// would refuse to start.
//
// The rules are those of containerd 2.4.2 (measured, and read in
// cmd/containerd/server/config), of 2.0.7, 2.2.0 and 1.7.29 (read). What is
// given on containerd's command line wins over the files and is not seen here.
package runtimeconf
