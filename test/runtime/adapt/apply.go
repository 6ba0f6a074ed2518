//go:build linux

package adapt

import (
	"context"
	"fmt"

	"github.com/containerd/containerd/v2/pkg/blockio"
	"github.com/containerd/containerd/v2/pkg/cdi"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/runtime-tools/generate"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
)

// Apply is the spec that an adjustment makes of a spec: NRI's generator with
// the options of containerd, which looks at the mount table of the caller. The
// spec given is not changed, nor is the adjustment.
func Apply(spec *rspec.Spec, adjust *api.ContainerAdjustment) (*rspec.Spec, error) {
	adjusted, err := clone(spec)
	if err != nil || adjust == nil {
		return adjusted, err
	}
	if adjusted.Linux == nil {
		adjusted.Linux = &rspec.Linux{} // the generator takes it for granted
	}
	if err := generate.SpecGenerator(&underlying{adjusted}, options()...).Adjust(adjust); err != nil {
		return nil, fmt.Errorf("adjust spec: %w", err)
	}
	return adjusted, nil
}

func options() []generate.GeneratorOption {
	return []generate.GeneratorOption{
		generate.WithResourceChecker(func(*rspec.LinuxResources) error { return nil }),
		generate.WithRdtResolver(func(class string) (*rspec.LinuxIntelRdt, error) {
			if class == "" {
				return nil, nil
			}
			return &rspec.LinuxIntelRdt{ClosID: class}, nil
		}),
		generate.WithBlockIOResolver(func(class string) (*rspec.LinuxBlockIO, error) {
			if class == "" {
				return nil, nil
			}
			return blockio.ClassNameToLinuxOCI(class)
		}),
		generate.WithCDIDeviceInjector(func(s *rspec.Spec, devices []string) error {
			return cdi.WithCDIDevices(devices...)(context.Background(), nil, nil, s)
		}),
	}
}
