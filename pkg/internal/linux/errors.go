package linux

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrNotSupported matches the error of a call this kernel does not have.
var ErrNotSupported = errors.New("not supported by this kernel")

// ErrNotCached matches the error of a path walk that would have had to wait
// for a file system; see Cached.
var ErrNotCached error = unix.EAGAIN

// NotSupportedError names what is missing and the first kernel to have it.
type NotSupportedError struct {
	Name  string // "statmount"
	Since string // "6.8"
	Err   error  // what the kernel answered
}

// Error says what is missing and since when Linux has it.
func (e *NotSupportedError) Error() string {
	return fmt.Sprintf("%s is not supported by this kernel (Linux %s or later) or refused by a seccomp filter: %v", e.Name, e.Since, e.Err)
}

// Is makes the error match ErrNotSupported.
func (e *NotSupportedError) Is(target error) bool { return target == ErrNotSupported }

// Unwrap returns what the kernel answered.
func (e *NotSupportedError) Unwrap() error { return e.Err }
