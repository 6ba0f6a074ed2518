package verify

import "github.com/mountward/mountward/pkg/facts"

// Answers remembers what was answered about paths of the host: proof and map
// speak of one moment. It is not safe for concurrent use.
type Answers map[string]answer

type answer struct {
	mount facts.HostMount
	err   error
}

// By returns a lookup that asks about no path that there is an answer about.
func (a Answers) By(lookup Lookup) Lookup {
	return func(path string) (facts.HostMount, error) {
		known, ok := a[path]
		if !ok {
			known.mount, known.err = lookup(path)
			a[path] = known
		}
		return known.mount, known.err
	}
}
