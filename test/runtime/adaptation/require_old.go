//go:build linux && nri_before_0_10

package main

import "github.com/containerd/nri/pkg/adaptation"

// requiring has no effect: NRI before 0.10 has no validator.
func requiring(string) []adaptation.Option { return nil }
