package main

import (
	"sync"

	"github.com/containerd/nri/pkg/api"
)

// roster is what the runtime has told an instance that stands aside of its
// containers: when it takes over, nobody tells it again. The zero value knows
// nothing.
type roster struct {
	mu   sync.Mutex
	told map[string]listed // nil: the runtime has told nothing
}

type listed struct {
	pod       *api.PodSandbox
	container *api.Container
}

// keep takes the runtime's list.
func (r *roster) keep(pods []*api.PodSandbox, containers []*api.Container) {
	byID := podsByID(pods)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = make(map[string]listed, len(containers))
	for _, c := range containers {
		r.told[c.GetId()] = listed{byID[c.GetPodSandboxId()], c}
	}
}

// note follows one event.
func (r *roster) note(h handler, pod *api.PodSandbox, c *api.Container) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told == nil {
		return
	}
	switch h {
	case handlerStart:
		c.State = api.ContainerState_CONTAINER_RUNNING // it is about to
		r.told[c.GetId()] = listed{pod, c}
	case handlerCreate:
		r.told[c.GetId()] = listed{pod, c}
	case handlerStop, handlerRemove:
		delete(r.told, c.GetId())
	default:
	}
}

// take returns what is known as the runtime would tell it, and forgets it;
// false where the runtime has told nothing yet.
func (r *roster) take() (pods []*api.PodSandbox, containers []*api.Container, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.told {
		if one.pod != nil {
			pods = append(pods, one.pod)
		}
		containers = append(containers, one.container)
	}
	known, r.told = r.told != nil, nil
	return pods, containers, known
}

func podsByID(pods []*api.PodSandbox) map[string]*api.PodSandbox {
	byID := make(map[string]*api.PodSandbox, len(pods))
	for _, pod := range pods {
		byID[pod.GetId()] = pod
	}
	return byID
}
