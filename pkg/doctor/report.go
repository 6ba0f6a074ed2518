package doctor

import (
	"time"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// Schema names the JSON of a Document, and is what a baseline must have.
const Schema = "mountward.doctor/v1"

// Document is a report as it is written and kept: the contract of its JSON.
type Document struct {
	Schema     string               `json:"schema"`
	Time       time.Time            `json:"time"`
	Kernel     string               `json:"kernel,omitempty"`   // its release
	Pod        string               `json:"pod,omitempty"`      // it is of this one alone
	Baseline   string               `json:"baseline,omitempty"` // it is of what got worse since
	Kept       int                  `json:"kept,omitempty"`     // problems that the baseline has as well
	Kubelet    KubeletFound         `json:"kubelet"`
	Runtime    RuntimeFound         `json:"runtime"`
	Places     []Size               `json:"places"`
	Containers int                  `json:"containers"`
	Findings   []Finding            `json:"findings"`
	Unknown    []namespaces.Unknown `json:"unknown"`
}

// KubeletFound is where the kubelet is, and who says so.
type KubeletFound struct {
	PID       int               `json:"pid,omitempty"`
	Root      string            `json:"root"`
	Canonical string            `json:"canonical,omitempty"`
	From      string            `json:"from"`
	Sources   []discover.Source `json:"sources"`
	Disagree  []string          `json:"disagree"`
	Why       string            `json:"why,omitempty"`
}

// RuntimeFound is where containerd is, and who says so.
type RuntimeFound struct {
	PID     int    `json:"pid,omitempty"`
	Socket  string `json:"socket,omitempty"`
	State   string `json:"state,omitempty"`
	Root    string `json:"root,omitempty"`
	Config  string `json:"config,omitempty"`
	Version string `json:"version,omitempty"`
	// VersionEvidence is what tells the version, or why it is not known.
	VersionEvidence string            `json:"version_evidence,omitempty"`
	From            string            `json:"from"`
	Sources         []discover.Source `json:"sources"`
	Disagree        []string          `json:"disagree"`
	Why             string            `json:"why,omitempty"`
}

// Document returns the report of a snapshot as it is written.
func (r Report) Document(s *Snapshot) Document {
	return Document{
		Schema: Schema, Time: s.Now, Places: Sizes(s), Containers: len(s.Tasks), Findings: r.Findings, Unknown: r.Unknown,
		Kubelet: KubeletFound{
			PID: r.Kubelet.PID, Root: r.Kubelet.Root, Canonical: r.Kubelet.Canonical,
			From: r.Kubelet.Chosen.From, Sources: r.Kubelet.Sources, Disagree: r.Kubelet.Disagree, Why: r.Kubelet.Why,
		},
		Runtime: RuntimeFound{
			PID: r.Runtime.PID, Socket: r.Runtime.Socket, State: r.Runtime.State, Root: r.Runtime.Root,
			Config: r.Runtime.Config, Version: r.Runtime.Version, VersionEvidence: r.Runtime.VersionEvidence,
			From: r.Runtime.Chosen.From, Sources: r.Runtime.Sources, Disagree: r.Runtime.Disagree, Why: r.Runtime.Why,
		},
	}
}

// Answered returns the findings with one answer, in their order.
func (d Document) Answered(answer facts.Truth) []Finding {
	var all []Finding
	for _, f := range d.Findings {
		if f.Answer == answer {
			all = append(all, f)
		}
	}
	return all
}

// Answer sums the document up, as [Report.Answer] does a report.
func (d Document) Answer() facts.Truth {
	return Report{Findings: d.Findings, Unknown: d.Unknown}.Answer()
}

// Since returns the document with nothing but what is worse than the baseline
// of the name.
func (d Document) Since(name string, b Baseline) Document {
	d.Baseline = name
	d.Findings, d.Unknown, d.Kept = b.worse(d)
	return d
}
