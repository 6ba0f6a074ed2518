package policytest

import (
	"github.com/mountward/mountward/pkg/facts"
)

func (p *parser) test(i int, raw *rawTest, host Host) Case {
	at := func(steps ...any) []any { return append([]any{"test", i}, steps...) }
	c := Case{Name: raw.Name, Position: p.line("test", i), Host: host}
	if raw.Name == "" {
		p.fail(at("name"), `"name" is missing: every test has a name of its own`)
	}
	p.oneLine(at("name"), "name", raw.Name)
	if raw.Host != nil {
		c.Host = p.host(at("host"), raw.Host, host)
	}
	c.Container = facts.Container{
		ID: raw.Container.ID, Name: raw.Container.Name, Image: raw.Container.Image, UserNamespace: raw.Container.UserNamespace,
		Privileged: p.privileged(at("container", "privileged"), raw.Container.Privileged),
		Pod:        p.pod(at("pod"), &raw.Pod),
	}
	if image, ok := facts.ParseImage(c.Container.Image); ok {
		c.Container.Image = image.String() // as the runtime tells it
	}
	expects := false // an empty expect is an error of its own
	for j := range raw.Mounts {
		at := at("mount", j)
		c.Container.Mounts = append(c.Container.Mounts, p.mount(at, &raw.Mounts[j]))
		c.Expect = append(c.Expect, p.expect(append(at, "expect"), raw.Mounts[j].Expect))
		expects = expects || raw.Mounts[j].Expect != nil
	}
	switch {
	case len(raw.Mounts) == 0:
		p.fail(at("mount"), "test %q has no mount: write mount = [{ source = \"/path\", expect = { action = \"allow\" } }]", raw.Name)
	case !expects:
		p.fail(at("mount"), "test %q expects nothing of any mount and would pass whatever the policy says: write expect = { ... } in one", raw.Name)
	}
	return c
}

// privileged reads the one fact of a container that has three answers.
func (p *parser) privileged(at []any, raw any) facts.Answer {
	const said = "the test says so"
	switch value := raw.(type) {
	case nil:
		return facts.Is(false, "the test does not say otherwise")
	case bool:
		return facts.Is(value, said)
	case string:
		if value == facts.Unknown.String() {
			return facts.CannotTell(said)
		}
	}
	p.fail(at, `"privileged" must be true or false or "unknown"`)
	return facts.Answer{}
}

func (p *parser) pod(at []any, raw *rawPod) facts.Pod {
	pod := facts.Pod{
		ID: raw.ID, Namespace: raw.Namespace, Name: raw.Name, UID: raw.UID,
		Labels: raw.Labels, Annotations: raw.Annotations, Runtime: raw.RuntimeHandler,
	}
	if raw.Static == nil {
		return pod
	}
	if _, ok := pod.Annotations[facts.AnnotationConfigSource]; ok {
		p.fail(append(at, "static"), "%q and the annotation %s say the same thing: write one of them", "static", facts.AnnotationConfigSource)
		return pod
	}
	source := "api"
	if *raw.Static {
		source = "file"
	}
	annotations := map[string]string{facts.AnnotationConfigSource: source}
	for key, value := range pod.Annotations {
		annotations[key] = value
	}
	pod.Annotations = annotations
	return pod
}
