package cli

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/policy"
)

const keyImage = "image"

// nameImage gives a container's image the name that the runtime will tell. Of one
// that is pinned the runtime tells the digest, or a tag that the node has of it.
func nameImage(s *manifest.Subject) (pinned facts.Image) {
	if s.Container.Image == "" {
		return facts.Image{}
	}
	image, ok := facts.ParseImage(s.Container.Image)
	if !ok {
		s.Missing = append(s.Missing[:len(s.Missing):len(s.Missing)], keyImage)
		s.Unknown = append(s.Unknown[:len(s.Unknown):len(s.Unknown)], facts.Unread{What: keyImage, Why: "what the runtime calls " + s.Container.Image + " cannot be told"})
		return facts.Image{}
	}
	s.Container.Image = image.String()
	if image.Digest == "" {
		return facts.Image{}
	}
	s.Missing = append(s.Missing[:len(s.Missing):len(s.Missing)], keyImage)
	return image
}

// images reports that a rule may answer otherwise by the name of a pinned image that
// the runtime tells: globs for its digest alone, or for tags of its repository. All
// do of an image that has no known name.
func images(r policy.Rule, pinned facts.Image) bool {
	if pinned.Repository == "" {
		return true
	}
	written := r.Written()
	for _, k := range slices.Concat(written.Match, written.Except) {
		if k.Name == keyImage && open(k.Values, pinned) {
			return true
		}
	}
	return false
}

// open reports that globs take the digest of an image and not every tag, or a tag and
// not the digest.
func open(globs []string, pinned facts.Image) bool {
	const anyTag = "0_any.tag_0"
	of := func(name string) bool {
		return slices.ContainsFunc(globs, func(g string) bool { return policy.MatchName(g, name) })
	}
	digest, tagged := of(pinned.String()), of(pinned.Repository+":"+anyTag)
	if digest != tagged {
		return true
	}
	return !digest && slices.ContainsFunc(globs, func(g string) bool {
		fixed, tags := g, pinned.Repository+":"
		if i := strings.IndexAny(g, `*?[{\`); i >= 0 {
			if fixed = g[:i]; strings.HasPrefix(tags, fixed) {
				return true
			}
		}
		return strings.HasPrefix(fixed, tags)
	})
}
