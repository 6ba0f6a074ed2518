package vap

import (
	"encoding/json"
	"fmt"
)

// What an API server takes: the parser of CEL at most 100,000 characters an
// expression, etcd 1.5 MiB an object, of which its managed fields take a part.
const (
	maxExpression = 100_000
	maxObject     = 1 << 20
)

// check returns why the API server would not take the objects.
func (e *Exported) check() error {
	for _, v := range e.Policy.Spec.Variables {
		if n := len(v.Expression); n > maxExpression {
			return fmt.Errorf("the expression of variable %s has %d characters and the API server takes %d: write fewer globs in a rule", v.Name, n, maxExpression)
		}
	}
	data, err := json.Marshal(e.Policy)
	if err != nil {
		return fmt.Errorf("measure the policy: %w", err)
	}
	if len(data) > maxObject {
		return fmt.Errorf("the policy has %d bytes and the API server stores %d: export fewer rules", len(data), maxObject)
	}
	return nil
}
