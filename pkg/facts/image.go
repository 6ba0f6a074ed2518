package facts

import (
	"regexp"
	"strings"
)

// A reference to an image has at most so many bytes before its tag.
const maxImageName = 255

var (
	imagePath   = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	imageDomain = regexp.MustCompile(`^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$`)
	imageTag    = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$`)
	imageDigest = regexp.MustCompile(`^[a-z0-9]+(?:[+._-][a-z0-9]+)*:[a-fA-F0-9]{32,}$`)
	imageID     = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

// Image is a reference to an image as containerd names it: its repository, such as
// "docker.io/library/busybox", and the tag, or the digest of one that is pinned.
type Image struct{ Repository, Tag, Digest string }

// ParseImage reads a reference as a pod has it, "busybox" too, and returns false for
// what containerd would not take. It fills in the registry and the tag "latest", and
// leaves out the tag where there is a digest, as containerd does. Source:
// distribution/reference 0.6.0, ParseDockerRef.
func ParseImage(text string) (Image, bool) {
	var i Image
	rest, digest, pinned := strings.Cut(text, "@")
	if pinned && !imageDigest.MatchString(digest) || imageID.MatchString(text) {
		return i, false
	}
	if colon := strings.LastIndexByte(rest, ':'); colon > strings.LastIndexByte(rest, '/') {
		if rest, i.Tag = rest[:colon], rest[colon+1:]; !imageTag.MatchString(i.Tag) {
			return Image{}, false
		}
	}
	domain, path, found := strings.Cut(rest, "/")
	switch {
	case !found, !strings.ContainsAny(domain, ".:") && domain != "localhost" && strings.ToLower(domain) == domain:
		domain, path = "docker.io", rest
	case domain == "index.docker.io":
		domain = "docker.io"
	}
	if domain == "docker.io" && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	if !imageDomain.MatchString(domain) || !imagePath.MatchString(path) || len(domain)+1+len(path) > maxImageName {
		return Image{}, false
	}
	i.Repository, i.Digest = domain+"/"+path, digest
	switch {
	case pinned:
		i.Tag = ""
	case i.Tag == "":
		i.Tag = "latest"
	}
	return i, true
}

// String is the name of the image.
func (i Image) String() string {
	if i.Digest != "" {
		return i.Repository + "@" + i.Digest
	}
	return i.Repository + ":" + i.Tag
}
