package show

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
)

// featurePrefix is the namespace of our labels.
const featurePrefix = "mountward.io/"

// featuresLast is how long a feature file holds: node-feature-discovery passes
// over one whose time is over, so that a node that is not looked at any more
// keeps no label that says it is sound.
const featuresLast = 24 * time.Hour

// maxLabel is how long the name of a label may be, without its prefix.
const maxLabel = 63

// DoctorFeatures writes a feature file for node-feature-discovery's local
// source, one label a line, from 0.14 on with the time until which it holds:
//
//	mountward.io/doctor              sound, problems or unknown
//	mountward.io/kubelet-root-shared true, false or unknown, see rootShared
//	mountward.io/problem.CODE        true, one for each code of a problem
func DoctorFeatures(w io.Writer, d doctor.Document) error {
	lines := []string{
		"# written by mountward doctor -o nfd",
		"# +expiry-time=" + d.Time.Add(featuresLast).UTC().Format(time.RFC3339),
		featurePrefix + "doctor=" + health(d.Answer()),
		featurePrefix + "kubelet-root-shared=" + rootShared(d),
	}
	var codes []string
	for _, f := range d.Answered(facts.No) {
		codes = append(codes, featurePrefix+labelName("problem."+f.Code)+"=true")
	}
	slices.Sort(codes)
	lines = append(lines, slices.Compact(codes)...)
	_, err := fmt.Fprintln(w, strings.Join(lines, "\n"))
	return err
}

// health is the exit code in a word.
func health(answer facts.Truth) string {
	switch answer {
	case facts.Yes:
		return "sound"
	case facts.No:
		return "problems"
	default:
		return "unknown"
	}
}

// rootShared answers whether Bidirectional works below the kubelet's root: yes
// where the root, its pods and its plugins are each shared as they must be, in the
// mount namespaces of the runtime and of the kubelet, and nothing else below the
// root is found that is not.
func rootShared(d doctor.Document) string {
	answer := facts.Yes
	for _, role := range []string{doctor.RoleRuntime, doctor.RoleKubelet} {
		place, ok := placeOf(d, role)
		if !ok {
			answer = facts.Unknown // but what is seen in the other can be no
		}
		missing := map[string]bool{"": true, "pods": true, "plugins": true}
		for _, f := range d.Findings {
			rest, below := belowRoot(d, f.Subject)
			if !ok || !below || !of(place, f) || !slices.Contains(bidirectional(), f.Code) {
				continue
			}
			switch f.Answer {
			case facts.No:
				return "false"
			case facts.Unknown:
				answer = facts.Unknown
			case facts.Yes:
				delete(missing, rest)
			}
		}
		if len(missing) > 0 {
			answer = facts.Unknown
		}
	}
	if answer == facts.Yes {
		return "true"
	}
	return "unknown"
}

// bidirectional are the codes of what decides whether Bidirectional works at a
// path.
func bidirectional() []string {
	return []string{
		doctor.CodeShared, doctor.CodeNotShared, doctor.CodeSlaveOnly, doctor.CodeDownstreamOnly,
		doctor.CodeNotLinked, doctor.CodeUnresolved, doctor.CodeCRIMisjudges,
	}
}

func placeOf(d doctor.Document, role string) (doctor.Size, bool) {
	i := slices.IndexFunc(d.Places, func(p doctor.Size) bool { return p.Role == role })
	if i < 0 {
		return doctor.Size{}, false
	}
	return d.Places[i], true
}

// of reports whether a finding is of the mount namespace of a place.
func of(p doctor.Size, f doctor.Finding) bool {
	if p.Inode != 0 {
		return strings.HasSuffix(f.Where, fmt.Sprintf(" mnt:[%d]", p.Inode))
	}
	return strings.Contains(f.Where, p.Role+" ") && !strings.Contains(f.Where, " mnt:[")
}

// belowRoot returns what of a path is below the kubelet's root, by either of its
// names.
func belowRoot(d doctor.Document, path string) (string, bool) {
	for _, root := range []string{d.Kubelet.Root, d.Kubelet.Canonical} {
		if rest, ok := facts.Below(path, root); ok && root != "" {
			return rest, true
		}
	}
	return "", false
}

// labelName makes a name of what Kubernetes takes as one.
func labelName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, s)
	return strings.TrimRight(s[:min(len(s), maxLabel)], "-_.")
}
