package manifest

import (
	"fmt"
	"maps"

	"github.com/mountward/mountward/pkg/facts"
)

// pod adds the containers of the pods of an object.
func (r *reader) pod(from string, p pods) error {
	if err := p.validate(); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	b := builder{Options: r.options, of: p, uid: orElse(p.UID, anyUID), volumes: map[string]volume{}}
	for _, v := range p.spec.Volumes {
		if _, twice := b.volumes[v.name]; twice {
			return locate(v.line, fmt.Errorf("%s: two volumes are named %q", from, v.name))
		}
		b.volumes[v.name] = v.orEmptyDir()
	}
	for _, claim := range p.claims {
		b.volumes[claim] = volume{name: claim, kind: kindClaim, source: source{Claim: claim + "-" + p.Name}}
	}
	pod, unknown := b.pod()
	for _, of := range []struct {
		kind string
		all  []container
	}{{KindInit, p.spec.Init}, {KindContainer, p.spec.Containers}, {KindEphemeral, p.spec.Ephemeral}} {
		for _, c := range of.all {
			if len(r.file.Subjects) == maxSubjects {
				return fmt.Errorf("%s: more than %d containers in one file", from, maxSubjects)
			}
			s := Subject{From: from, Kind: of.kind, Unknown: unknown}
			if of.kind == KindInit && c.RestartPolicy == "Always" {
				s.Kind = KindSidecar
			}
			if p.spec.RuntimeClassName != nil && *p.spec.RuntimeClassName != "" {
				s.Unknown = append(s.Unknown[:len(s.Unknown):len(s.Unknown)], facts.Unread{
					What: "runtime handler", Why: "the manifest names the RuntimeClass " + *p.spec.RuntimeClassName + ", and its handler is taken to have that name",
				})
			}
			s.Container = facts.Container{
				Name: c.Name, Image: c.Image, Pod: pod, UserNamespace: p.spec.HostUsers != nil && !*p.spec.HostUsers,
				Labels: map[string]string{
					facts.LabelContainerName: c.Name, "io.kubernetes.pod.name": pod.Name,
					"io.kubernetes.pod.namespace": pod.Namespace, "io.kubernetes.pod.uid": pod.UID,
				},
				Privileged: facts.Is(c.Security.Privileged, fmt.Sprintf("securityContext.privileged is %t", c.Security.Privileged)),
			}
			if err := b.mounts(&s, c); err != nil {
				return locate(c.line, fmt.Errorf("%s: container %q: %w", from, c.Name, err))
			}
			r.file.Subjects = append(r.file.Subjects, s)
		}
	}
	return nil
}

// pod is the pod as the runtime will be told, and what of it is not known.
func (b *builder) pod() (facts.Pod, []facts.Unread) {
	var unknown []facts.Unread
	tell := func(what, why string) { unknown = append(unknown, facts.Unread{What: what, Why: why}) }
	if b.of.UID == "" {
		tell("pod uid", "it is given when the pod is made; "+anyUID+" stands for it")
	}
	if !b.of.named {
		tell("pod name", "it is given when the pod is made; "+b.of.Name+" stands for it")
	}
	p := facts.Pod{ID: unknownID, Namespace: b.of.Namespace, Name: b.of.Name, UID: b.uid, Labels: map[string]string{}, Annotations: maps.Clone(b.of.Annotations)}
	if p.Namespace == "" {
		p.Namespace = b.Namespace
		tell("namespace", fmt.Sprintf("the manifest has none; taken as %q, --namespace names another", p.Namespace))
	}
	maps.Copy(p.Labels, b.of.Labels)
	maps.Copy(p.Labels, map[string]string{
		"io.kubernetes.pod.name": p.Name, "io.kubernetes.pod.namespace": p.Namespace, "io.kubernetes.pod.uid": p.UID,
	})
	if b.Static {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[facts.AnnotationConfigSource] = "file"
	}
	if b.of.spec.RuntimeClassName != nil {
		p.Runtime = *b.of.spec.RuntimeClassName
	}
	return p, unknown
}
