// Package linux is the only importer of golang.org/x/sys/unix: thin wrappers
// around the system calls mountward needs. Descriptors are close-on-exec and
// come as *os.File, errors carry the operation and the object, and each
// wrapper says which kernel it needs.
//
// What the kernel offers is found by trying, never by its version. A call that
// this kernel does not have fails with an error matching ErrNotSupported; any
// other error means that it could not be told.
package linux
