package main

import (
	"context"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// findings judges the kubelet root and the paths that must be shared. It is
// asked at every creation that raises something: the kubelet may have made its
// root shared only after we started, and a raise below a private root sees
// nothing.
func (h *host) findings(ctx context.Context) []facts.Finding {
	var found []facts.Finding
	for i, path := range h.needed() {
		what := neededFor(i)
		m, err := h.view.Lookup(ctx, path)
		switch {
		case err != nil:
			found = append(found, facts.Finding{
				Code:    "host-path-unknown",
				Message: fmt.Sprintf("cannot tell whether the %s %s is on a shared mount: %s", what, path, reason(err)),
			})
		case m.State.Shared():
			found = append(found, facts.Finding{
				Code:     "host-path-shared",
				Message:  fmt.Sprintf("the %s %s is on %s, which is %s in the runtime's namespace", what, path, m.MountPoint, m.State),
				Evidence: m.Line(),
			})
		default:
			found = append(found, facts.Finding{
				Code:     "host-path-not-shared",
				Message:  fmt.Sprintf("the %s %s is on %s, which is %s in the runtime's namespace; run: mount --make-rshared %s", what, path, m.MountPoint, m.State, m.MountPoint),
				Evidence: m.Line(),
			})
		}
	}
	return found
}

// needed returns the paths of the host that are to be shared, the kubelet's root
// first.
func (h *host) needed() []string {
	return append([]string{h.vars().KubeletRoot}, h.daemon.settings.Host.RequireShared...)
}

// neededFor names the path with an index in needed.
func neededFor(i int) string {
	if i == 0 {
		return "kubelet root"
	}
	return "required path"
}
