package doctor

import (
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/words"
)

// confirm reads both tables once more and drops what does not differ in both
// readings: the two tables are not of one moment.
func (p *pairing) confirm() error {
	inside, err := p.tableOf(p.container)
	if err != nil {
		return err
	}
	host, err := p.again(p.space)
	if err != nil {
		return err
	}
	before := map[string]bool{}
	for _, pair := range p.first {
		before[pair.at] = pair.differs()
	}
	p.first = slices.DeleteFunc(p.pair(host, inside), func(pair stackPair) bool {
		return pair.differs() && !before[pair.at]
	})
	return nil
}

// mostPairs bounds the findings of one container.
const mostPairs = 50

// findings says where the tables differ, or that they do not.
func (p pairing) findings() []Finding {
	var all []Finding
	same, more := 0, 0
	for _, pair := range p.first {
		switch {
		case !pair.differs():
			same++
		case len(all) == mostPairs:
			more++
		default:
			all = append(all, p.finding(pair))
		}
	}
	if more > 0 {
		all[len(all)-1].Message += fmt.Sprintf("; %d more places differ", more)
	}
	if len(all) > 0 {
		return all
	}
	f := Finding{
		Code: CodeTablesEqual, Answer: facts.Yes, Subject: p.name(), Where: p.where(),
		Message:  fmt.Sprintf("%s has the same %s below the kubelet root as the kubelet", p.name(), words.Count(same, "mount")),
		Evidence: []Evidence{{Text: words.Count(same, "place"), Show: fmt.Sprintf("diff /proc/%d/mountinfo /proc/%d/mountinfo", p.space.first().Process.PID, p.process)}},
	}
	if same == 0 {
		f.Message = fmt.Sprintf("neither %s nor the kubelet has a mount below the kubelet root in what the container has of it", p.name())
		if p.none {
			f.Message = fmt.Sprintf("%s has nothing of the kubelet root", p.name())
		}
	}
	return []Finding{f}
}

func (p pairing) finding(pair stackPair) Finding {
	f := Finding{Code: CodeStackDiffers, Answer: facts.No, Subject: pair.place, Where: p.where(), Containers: []string{p.name()}}
	name := p.name()
	if pair.at != pair.place {
		name += " at " + word(pair.at)
	}
	switch {
	case len(pair.inside) == 0:
		f.Code = CodeOnlyHost
		f.Message = fmt.Sprintf("%s is mounted for the kubelet and not in %s", word(pair.place), name)
		f.Effect = "the container sees what is below the mount: an empty directory mostly"
	case len(pair.host) == 0:
		f.Code = CodeOnlyContainer
		f.Message = fmt.Sprintf("%s is mounted in %s and not for the kubelet", word(pair.place), name)
		f.Effect = "the kubelet and the pods see an empty directory, and the volume stays in use by the container"
	case len(pair.host) == len(pair.inside):
		f.Message = fmt.Sprintf("%s shows something else in %s than it does for the kubelet", word(pair.place), name)
	default:
		f.Message = fmt.Sprintf("at %s %d mounts are stacked for the kubelet and %d in %s", word(pair.place), len(pair.host), len(pair.inside), name)
		f.Effect = "an unmount in one of them takes one away and leaves the others: the device is still mounted by other references"
	}
	f.Evidence = append(p.lines(pair.host, p.space.evidence), p.lines(pair.inside, p.container.evidence)...)
	return f
}

// lines are the evidence of a stack, the top last.
func (p pairing) lines(stack []hostview.Entry, evidence func(hostview.Entry) Evidence) []Evidence {
	var all []Evidence
	for _, e := range stack[max(0, len(stack)-mostLines):] {
		all = append(all, evidence(e))
	}
	return slices.Clip(all)
}
