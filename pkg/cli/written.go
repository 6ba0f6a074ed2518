package cli

import "io"

// output is standard output. It keeps its first error, which many verbs pass over:
// an answer that was not written must not end with the exit code of one.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}
