//go:build linux && !nri_before_0_10

package main

import (
	"github.com/containerd/nri/pkg/adaptation"
	validator "github.com/containerd/nri/plugins/default-validator"
)

func requiring(plugin string) []adaptation.Option {
	if plugin == "" {
		return nil
	}
	return []adaptation.Option{adaptation.WithDefaultValidator(&validator.DefaultValidatorConfig{
		Enable: true, RequiredPlugins: []string{plugin},
	})}
}
