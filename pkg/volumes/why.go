package volumes

import (
	"errors"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
)

// cannotTell begins every reason that is no "no".
const cannotTell = "cannot tell: "

// noDevice is the error about a file system that has no block device of this
// node: it is known that there is none.
type noDevice string

func (n noDevice) Error() string { return string(n) }

// because returns the reason of an error without the words that it cannot be
// told, on one line.
func because(err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var why string
		for _, err := range joined.Unwrap() {
			also(&why, because(err))
		}
		return why
	}
	var c *hostview.CannotTell
	if errors.As(err, &c) {
		return c.Path + ": " + c.Why
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// also adds a reason to others.
func also(why *string, more string) {
	switch {
	case more == "":
	case *why == "":
		*why = more
	default:
		*why += "; " + more
	}
}
