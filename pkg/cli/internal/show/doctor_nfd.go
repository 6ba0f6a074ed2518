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
//	mountward.io/kubelet-root-shared true, false or unknown, where the runtime is
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

// rootShared answers of the kubelet's root directory, in the runtime's mount
// namespace if there is a finding about it there.
func rootShared(d doctor.Document) string {
	codes := []string{
		doctor.CodeShared, doctor.CodeNotShared, doctor.CodeSlaveOnly,
		doctor.CodeDownstreamOnly, doctor.CodeNotLinked, doctor.CodeUnresolved,
	}
	answers := map[facts.Truth]bool{}
	for _, f := range d.Findings {
		about := f.Subject == d.Kubelet.Root || f.Subject == d.Kubelet.Canonical
		if about && slices.Contains(codes, f.Code) && strings.Contains(f.Where, doctor.RoleRuntime+" ") {
			answers[f.Answer] = true
		}
	}
	switch {
	case answers[facts.No]:
		return "false"
	case answers[facts.Yes] && !answers[facts.Unknown]:
		return "true"
	default:
		return "unknown"
	}
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
