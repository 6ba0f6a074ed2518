package show

import (
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// Missing lists what a report does not know of what it prints. Why a whole
// container is not known the survey has told, if that is for a person to know:
// of one that has ended it is no surprise, unless it was named, see [Ended].
func (v Volumes) Missing() []volumes.Unknown {
	var all []volumes.Unknown
	for _, t := range v.Targets {
		if t.Why != "" {
			all = append(all, volumes.Unknown{What: Word(t.Target), Why: t.Why})
		}
	}
	for _, t := range v.Tasks {
		if t.Identity.Truth == facts.Yes {
			all = append(all, t.missing()...)
		}
	}
	return all
}

// Ended lists the containers of which nothing is known since they have ended.
func Ended(s volumes.Survey) []volumes.Unknown {
	var all []volumes.Unknown
	for _, m := range s.Members {
		if m.Ended {
			all = append(all, volumes.Unknown{What: TaskOf(m).name(), Why: m.Identity.Why})
		}
	}
	return all
}

func (t Task) missing() []volumes.Unknown {
	var all []volumes.Unknown
	// add tells the first reason there is.
	add := func(what, why, noLV string) {
		if rest, ok := strings.CutPrefix(noLV, CannotTell); ok && why == "" {
			why = rest
		}
		if why != "" {
			all = append(all, volumes.Unknown{What: t.name() + ", " + what, Why: why})
		}
	}
	add("root filesystem", "", t.Rootfs.NoLV)
	for _, m := range t.Mounts {
		add("mount "+Word(m.Destination), m.Why, m.NoLV)
		if m.Submounts != nil {
			add("mounts below "+Word(m.Destination), m.Submounts.Why, "")
		}
	}
	for _, r := range t.Raw {
		add("device "+Word(r.Path), r.Why, r.NoLV)
	}
	add("which block devices are volumes", t.RawWhy, "")
	return all
}
