package learn

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

const kubeletRoot = "${kubelet_root}"

// provisioned is the name that a provisioner gives a PersistentVolume: that of the
// next pod is another.
var provisioned = regexp.MustCompile(`^pvc-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// sourcePath is the path that a mount is known by: where it is on the host, or as
// it was given below a kubelet root that is a link itself.
func sourcePath(m facts.Mount, root string) (string, bool) {
	given, ok := facts.CleanAbs(m.Source)
	if m.Host == nil {
		return given, ok
	}
	canonical, resolved := facts.CleanAbs(m.Host.Canonical) // a trail may have anything
	if !resolved {
		return given, ok
	}
	if _, below := belowRoot(given, root); below {
		if _, below := belowRoot(canonical, root); !below {
			return given, true
		}
	}
	return canonical, true
}

func belowRoot(p, root string) (string, bool) {
	root, ok := facts.CleanAbs(root)
	if !ok || root == "/" {
		return "", false
	}
	return facts.Below(p, root)
}

// sourceGlob is the glob for a path. It stands for that path alone, but for what
// is generated in the path of a volume of the pod itself: the pod's uid and the
// name of a provisioned volume.
func sourceGlob(p string, pod facts.Pod, root string) string {
	rest, ok := belowRoot(p, root)
	if !ok {
		return literalPath(p)
	}
	parts := strings.Split(rest, "/")
	own := len(parts) > 3 && parts[0] == "pods" && parts[1] == pod.UID &&
		slices.Contains([]string{"volumes", "volume-subpaths", "volumeDevices"}, parts[2])
	for i := range parts {
		generated := own && (i == 1 || i < 5 && provisioned.MatchString(parts[i]))
		parts[i] = policy.Literal(parts[i])
		if generated {
			parts[i] = "*"
		}
	}
	return path.Join(kubeletRoot, strings.Join(parts, "/"))
}

func literalPath(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = policy.Literal(parts[i])
	}
	return strings.Join(parts, "/")
}
