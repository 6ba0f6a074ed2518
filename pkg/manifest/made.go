package manifest

import (
	"errors"
	"fmt"
)

// pods is what an object says of the pods that it makes.
type pods struct {
	meta
	spec podSpec
	// named is false where the names of the pods are made up when they are made.
	named  bool
	claims []string // names of the claims that a StatefulSet makes
}

// Names and uids that are not known before the pod is made look like this, so
// that a rule meets what it would meet.
const (
	anyHash  = "xxxxxxxxxx"
	anyID    = "xxxxx"
	anyUID   = "00000000-0000-4000-8000-000000000000"
	anyClaim = "pvc-" + anyUID
)

// podsOf reads an object that makes pods.
func podsOf(o object) (pods, error) {
	if o.Kind == "Pod" {
		p := pods{meta: o.Metadata, named: o.Metadata.Name != ""}
		if !p.named {
			p.Name = p.GenerateName + anyID
		}
		return p, decode(&o.Spec, &p.spec)
	}
	var w workload
	if err := decode(&o.Spec, &w); err != nil {
		return pods{}, err
	}
	suffix := "-" + anyID
	if w.JobTemplate != nil && o.Kind == "CronJob" {
		w.Template = w.JobTemplate.Spec.Template
	}
	if w.Template == nil {
		return pods{}, errors.New("it has no spec.template (spec.jobTemplate of a CronJob)")
	}
	p := pods{meta: w.Template.Metadata, spec: w.Template.Spec}
	p.Namespace, p.UID = o.Metadata.Namespace, ""
	switch o.Kind {
	case "StatefulSet":
		p.named, suffix = true, "-0"
		for _, c := range w.Claims {
			p.claims = append(p.claims, c.Metadata.Name)
		}
	case "Deployment":
		suffix = "-" + anyHash + suffix
	case "CronJob":
		suffix = "-" + "00000000" + suffix // minutes since 1970
	}
	p.Name = orElse(o.Metadata.Name, o.Metadata.GenerateName+anyID) + suffix
	return p, nil
}

// windows reports pods that no node with Linux takes.
func (p *pods) windows() bool {
	return p.spec.OS.Name == "windows" || p.spec.NodeSelector["kubernetes.io/os"] == "windows"
}

// validate refuses what the API server would, as far as mounts go.
func (p *pods) validate() error {
	n := len(p.spec.Containers) + len(p.spec.Init) + len(p.spec.Ephemeral)
	switch {
	case len(p.spec.Containers) == 0:
		return errors.New("it has no containers")
	case n > maxMounts:
		return fmt.Errorf("it has %d containers", n)
	}
	return nil
}
