package lint

import (
	"strings"
)

// imageWrong tells why no image's name is in a glob without braces. The CRI
// plugin of containerd names an image by registry, repository, and tag or digest:
// busybox is docker.io/library/busybox:latest. One that has lost its names is
// named by its digest alone, "sha256:...". Source: containerd 2.4.2
// internal/cri/store/image, distribution/reference ParseDockerRef.
func imageWrong(glob string) string {
	if strings.ContainsAny(glob, `[]{}\`) || strings.HasPrefix(glob, "sha256") {
		return "" // not looked into
	}
	tail := glob[strings.LastIndexAny(glob, "*?")+1:]
	_, last, slash := cutLast(tail)
	switch whole := tail == glob; {
	case whole && !slash:
		return "matches nothing: an image's name starts with its registry; write \"docker.io/library/" + strings.ToLower(glob) + "\", or \"*/\" before it"
	case slash && !strings.ContainsAny(last, ":@"):
		return "matches nothing: an image's name ends in a tag or digest; add \":*\", or \"*\" for both"
	case whole && strings.HasPrefix(glob, "docker.io/") && strings.Count(glob, "/") == 1:
		return "matches nothing: an image of Docker Hub without an owner is named docker.io/library/..."
	case whole && hasUpper(repository(glob)):
		return "matches nothing: a repository has small letters alone"
	}
	return ""
}

func cutLast(name string) (before, last string, ok bool) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		return "", name, false
	}
	return name[:i], name[i+1:], true
}

// repository is what stands between the registry and the tag or digest.
func repository(image string) string {
	_, rest, _ := strings.Cut(image, "/")
	before, last, _ := cutLast(rest)
	return before + last[:strings.IndexAny(last+":", ":@")]
}

func hasUpper(text string) bool { return text != strings.ToLower(text) }
