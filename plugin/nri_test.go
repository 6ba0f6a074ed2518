package main

import (
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestDescribeHalfEmptyEvents is T22: after a failed creation, or for a pod
// that is gone, hardly anything is set.
func TestDescribeHalfEmptyEvents(t *testing.T) {
	for name, event := range map[string]struct {
		pod       *api.PodSandbox
		container *api.Container
	}{
		"nothing":   {nil, nil},
		"no pod":    {nil, &api.Container{Id: "c"}},
		"empty pod": {&api.PodSandbox{}, &api.Container{Id: "c", Linux: &api.LinuxContainer{}}},
	} {
		got := describe(event.pod, event.container)
		if got.ID != event.container.GetId() || got.UserNamespace || got.Privileged.Truth == facts.Yes {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	got := describe(
		&api.PodSandbox{Id: "p", Name: "cart-0", Namespace: "shop", Uid: "u", Labels: map[string]string{"app": "cart"}, RuntimeHandler: "kata"},
		&api.Container{
			Id: "c", Name: "k8s_web", Labels: map[string]string{facts.LabelContainerName: "web"},
			Image:  &api.Image{Name: "img:1"},
			Mounts: []*api.Mount{apiBind("/a", "/s", "rslave")},
			Linux: &api.LinuxContainer{
				Namespaces: []*api.LinuxNamespace{{Type: "mount"}, {Type: "user"}},
				Devices:    []*api.LinuxDevice{{Path: "/dev/xvda", Type: "b", Major: 253, Minor: 7}, {Path: "/dev/null", Type: "c", Major: 1, Minor: 3}},
			},
		})
	want := facts.Container{
		ID: "c", Name: "web", Image: "img:1", Labels: map[string]string{facts.LabelContainerName: "web"}, UserNamespace: true,
		Pod:    facts.Pod{ID: "p", Name: "cart-0", Namespace: "shop", UID: "u", Labels: map[string]string{"app": "cart"}, Runtime: "kata"},
		Mounts: []facts.Mount{factsBind("/a", "/s", "rslave")},
		Devices: []facts.Device{
			{Path: "/dev/xvda", Type: "b", Number: facts.DeviceNumber{Major: 253, Minor: 7}},
			{Path: "/dev/null", Type: "c", Number: facts.DeviceNumber{Major: 1, Minor: 3}},
		},
		Privileged: got.Privileged, // a test of its own
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("container (-want +got):\n%s", diff)
	}
}
