package vap

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// reading is one key of match or except as a manifest shows it: where it surely
// holds, and where it may.
type reading struct {
	surely, maybe expr
	// mount is set for what differs between the mounts of a pod.
	mount bool
	// why a manifest does not show the key as the node will see it; "" where it
	// does.
	why string
}

// unknown is a key that may always hold and never surely does.
func unknown(why string) reading { return reading{surely: never, maybe: always, why: why} }

// exactly is a key that a manifest shows.
func exactly(e expr) reading { return reading{surely: e, maybe: e} }

// read returns the readings of the keys of a condition. Under except the keys of
// a table, such as pod_labels or volume, hold together, as they do in package
// policy.
func read(keys []policy.Key, vars policy.Vars, together bool) []reading {
	var all []reading
	tables := map[string]int{}
	for _, key := range keys {
		r := readKey(key, vars)
		table, rest, _ := strings.Cut(key.Name, ".")
		if !together || key.Of == "" && rest == "" {
			all = append(all, r)
			continue
		}
		at, seen := tables[table]
		if !seen {
			tables[table] = len(all)
			all = append(all, r)
			continue
		}
		with := &all[at]
		*with = reading{and(with.surely, r.surely), and(with.maybe, r.maybe), with.mount || r.mount, first(with.why, r.why)}
	}
	return all
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func readKey(k policy.Key, vars policy.Vars) reading {
	yes := slices.Contains(k.Values, "true")
	switch k.Name {
	case "namespace":
		return names(k, "request.namespace")
	case "pod":
		r := names(k, "variables.name")
		return reading{and("!variables.template", r.surely), or("variables.template", r.maybe), false, first(r.why, "the name of a pod is not known in a template")}
	case "pod_labels":
		return table(k, "variables.labels", addedLabel)
	case "pod_annotations":
		return table(k, "variables.annotations", addedAnnotation)
	case "container":
		return ofMount(names(k, "m.container"))
	case "privileged":
		return ofMount(exactly(word("m.privileged", yes)))
	case "readonly":
		return ofMount(reading{surely: word("m.readonly", yes), maybe: or(word("m.readonly", yes), `m.readonly == "?"`)})
	case "user_namespace":
		if yes {
			return exactly("variables.userNamespace")
		}
		return exactly("!variables.userNamespace")
	case "static_pod": // one from a manifest on the node does not come this way
		if yes {
			return exactly(never)
		}
		return exactly(always)
	case "propagation":
		is := expr("m.propagation in " + quotes(k.Values))
		return ofMount(reading{surely: is, maybe: or(is, `m.propagation == "?"`)})
	case "volume.kind":
		return kind(k)
	case "role":
		return role(vars)
	case "destination":
		return paths(k, vars, func(g pathGlob) (expr, expr, bool) {
			e, ok := g.matches("m.destination")
			return e, e, ok
		}, `m.destination == "?"`)
	case "source":
		return paths(k, vars, func(g pathGlob) (expr, expr, bool) { return g.source("m.source") }, `m.source.startsWith("?")`)
	default:
		return unknown("no manifest shows " + k.Path())
	}
}

// kind is a list of kinds of volumes. What a pod asks for itself is never a mount
// of no volume.
func kind(k policy.Key) reading {
	kinds := slices.DeleteFunc(slices.Clone(k.Values), func(kind string) bool { return kind == facts.VolumeNone })
	if len(kinds) == 0 {
		return ofMount(exactly(never))
	}
	is := expr("m.kind in " + quotes(kinds))
	return ofMount(reading{surely: is, maybe: or(is, `m.kind == "?"`)})
}

func ofMount(r reading) reading {
	r.mount = true
	return r
}

func word(fact string, yes bool) expr {
	if yes {
		return expr(fact + ` == "yes"`)
	}
	return expr(fact + ` == "no"`)
}

// inexact is why a glob has no translation.
const inexact = "a glob whose alternatives no regular expression has exactly"

// names is a key of globs for a name.
func names(k policy.Key, name string) reading {
	r := reading{surely: never, maybe: never}
	for _, glob := range k.Values {
		e, ok := nameGlob(name, glob)
		if !ok {
			r.maybe, r.why = always, inexact
			continue
		}
		r.surely, r.maybe = or(r.surely, e), or(r.maybe, e)
	}
	return r
}

// table is one entry of the labels or annotations of a pod. added says whether
// something else than the manifest's author writes the key.
func table(k policy.Key, name string, added func(string) (ever, later bool)) reading {
	ever, later := added(k.Of)
	if ever {
		return unknown(k.Path() + " is not written by the manifest's author")
	}
	at := name + "[" + quote(k.Of) + "]"
	r := names(k, at)
	there := expr(quote(k.Of) + " in " + name)
	r.surely, r.maybe = and(there, r.surely), and(there, r.maybe)
	if later {
		r.surely, r.maybe = and("!variables.template", r.surely), or("variables.template", r.maybe)
		r.why = first(r.why, k.Path()+" is not known in a template")
	}
	return r
}

// addedLabel: the kubelet tells the runtime labels of its own, the API server
// copies those of the node to a pod that is bound to it, and controllers add
// theirs to the pods that they make.
// Source: kubernetes 1.37 pkg/kubelet/kuberuntime/labels.go,
// plugin/pkg/admission/podtopologylabels, pkg/controller/{deployment,daemon,statefulset,job}.
func addedLabel(label string) (ever, later bool) {
	switch label {
	case "topology.kubernetes.io/zone", "topology.kubernetes.io/region":
		return true, true
	case "pod-template-hash", "controller-revision-hash", "pod-template-generation",
		"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index",
		"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name",
		"batch.kubernetes.io/job-completion-index":
		return false, true
	default:
		return strings.HasPrefix(label, "io.kubernetes."), false
	}
}

// addedAnnotation: the kubelet adds where a pod comes from and when it saw it.
// Source: kubernetes 1.37 pkg/kubelet/types, pkg/controller/job.
func addedAnnotation(annotation string) (ever, later bool) {
	return strings.HasPrefix(annotation, "kubernetes.io/config."), strings.HasPrefix(annotation, "batch.kubernetes.io/")
}

// paths is a key of globs for a path; blank is where the manifest does not show
// the path.
func paths(k policy.Key, vars policy.Vars, in func(pathGlob) (surely, maybe expr, ok bool), blank expr) reading {
	r := reading{surely: never, maybe: blank, mount: true}
	for _, text := range k.Values {
		prefix, rest, missing, err := vars.Split(text)
		if err != nil || missing != "" {
			r.maybe, r.why = always, "${"+missing+"} is not known"
			continue
		}
		surely, maybe, ok := in(pathGlob{prefix, rest})
		if !ok {
			r.why = inexact
		}
		r.surely, r.maybe = or(r.surely, surely), or(r.maybe, maybe)
	}
	return r
}

// role is the one role there is, of a container.
func role(vars policy.Vars) reading {
	if _, ok := facts.CleanAbs(vars.KubeletRoot); !ok {
		return unknown("${kubelet_root} is not known")
	}
	return ofMount(reading{surely: "m.container in variables.csiNodes", maybe: "m.container in variables.maybeCSINodes"})
}
