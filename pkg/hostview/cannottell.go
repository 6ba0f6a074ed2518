package hostview

// CannotTell is the error of a question that has no answer now, and why.
type CannotTell struct {
	Path string // the path or process asked about
	Why  string
	Err  error // what was met, for errors.Is; nil where there was no error
}

// Error returns the question and the reason.
func (e *CannotTell) Error() string { return e.Path + ": cannot tell: " + e.Why }

// Unwrap returns what was met.
func (e *CannotTell) Unwrap() error { return e.Err }

func cannotTell(path, why string) error { return &CannotTell{Path: path, Why: why} }

func cannotTellErr(path string, err error) error {
	return &CannotTell{Path: path, Why: err.Error(), Err: err}
}
