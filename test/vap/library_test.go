//go:build !plugin

package vap

import (
	"context"
	"errors"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// newest is the Kubernetes whose libraries these are.
const newest = 37

// start compiles the policy with the CEL library of the API server.
func start(t *testing.T, p *admissionv1.ValidatingAdmissionPolicy, b *admissionv1.ValidatingAdmissionPolicyBinding) judge {
	t.Helper()
	c := compile(t, p, newest)
	return func(ctx context.Context, t *testing.T, r request) answer {
		t.Helper()
		refusals, _ := c.evaluate(ctx, t, r)
		if len(refusals) == 0 {
			return answer{}
		}
		var is answer
		for _, action := range b.Spec.ValidationActions {
			switch action {
			case admissionv1.Deny:
				is.err = errors.New(refusals[0])
			case admissionv1.Warn:
				is.warnings = slices.Clone(refusals)
			case admissionv1.Audit:
			}
		}
		return is
	}
}
