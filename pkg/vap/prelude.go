package vap

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// prelude returns the variables that a rule may ask for, in the order in which
// they build on each other.
//
// A mount is a map of texts. "?" is what the manifest does not show; a source
// that starts with it is one that is not named: "?pods" lies in the kubelet's
// directory of the pod by its name, "?" anywhere (a PersistentVolumeClaim can be
// a hostPath). texts are the rules' own: a mount has no kind where none asks for it.
func prelude(vars policy.Vars, texts []string) []Variable {
	root, _ := facts.CleanAbs(vars.KubeletRoot)
	kind := ""
	if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "m.kind") }) {
		kind = ",\n  \"kind\": " + kindOf()
	}
	return []Variable{
		{"template", `has(object.spec.template) || has(object.spec.jobTemplate)`},
		{"pod", `has(object.spec.jobTemplate) ? object.spec.jobTemplate.spec.template
  : has(object.spec.template) ? object.spec.template : object`},
		{"spec", `variables.pod.spec`},
		{"name", `has(object.metadata.name) ? string(object.metadata.name) : ""`},
		{"labels", metadata("labels")},
		{"annotations", metadata("annotations")},
		{"userNamespace", `has(variables.spec.hostUsers) && variables.spec.hostUsers == false`},
		{"windows", `has(variables.spec.os) && variables.spec.os.name == "windows" || has(variables.spec.nodeSelector)
  && "kubernetes.io/os" in variables.spec.nodeSelector && variables.spec.nodeSelector["kubernetes.io/os"] == "windows"`},
		{"volumes", list("variables.spec", "volumes")},
		// None of a pod for Windows, where mountward does not run. An ephemeral
		// container comes to a pod that is there: what that has is not asked again.
		{"containers", `variables.windows ? []
  : has(request.subResource) && request.subResource == "ephemeralcontainers"
  ? ` + list("variables.spec", "ephemeralContainers") + `.filter(c, !` + list("oldObject.spec", "ephemeralContainers") + `.exists(o, o.name == c.name))
  : ` + list("variables.spec", "initContainers") + `
    + ` + list("variables.spec", "containers") + `
    + ` + list("variables.spec", "ephemeralContainers")},
		{"mounts", `variables.containers.map(c, ` + list("c", "volumeMounts") + `.map(v, {
  "container": string(c.name),
  "privileged": has(c.securityContext) && has(c.securityContext.privileged) && c.securityContext.privileged ? "yes" : "no",
  "destination": ` + clean("v.mountPath") + `,
  "propagation": !has(v.mountPropagation) || v.mountPropagation == "None" ? "private"
    : v.mountPropagation == "HostToContainer" ? "slave"
    : v.mountPropagation == "Bidirectional" ? "shared" : "?",
  "readonly": has(v.readOnly) && v.readOnly ? "yes"
    : variables.volumes.exists(x, x.name == v.name && (has(x.hostPath) || has(x.emptyDir))) ? "no" : "?",
  "source": has(v.subPath) && v.subPath != "" || has(v.subPathExpr) && v.subPathExpr != "" ? "?pods"
    : !variables.volumes.exists(x, x.name == v.name) ? "?"
    : variables.volumes.filter(x, x.name == v.name).map(x,
        has(x.hostPath) ? (x.hostPath.path.startsWith("/") ? ` + clean("x.hostPath.path") + ` : "?")
        : has(x.emptyDir) || has(x.secret) || has(x.configMap) || has(x.projected) || has(x.downwardAPI) || has(x.csi)
        ? "?pods" : "?")[0]` + kind + `
}))`},
		{"csiNodes", csiNodes(root, false)},
		{"maybeCSINodes", csiNodes(root, true)},
	}
}

func metadata(field string) string {
	return `has(variables.pod.metadata) && has(variables.pod.metadata.` + field + `) ? variables.pod.metadata.` + field + ` : {}`
}

func list(of, field string) string {
	return `(has(` + of + `.` + field + `) ? ` + of + `.` + field + ` : [])`
}

// kindOf is the kind of volume that a mount v is of, in the words of a manifest,
// where it is the same on the node: a claim is bound to any, volumes of clouds have
// moved to CSI drivers, and a sub-path is what a file of the kubelet's says it is.
func kindOf() string {
	var b strings.Builder
	b.WriteString(`has(v.subPath) && v.subPath != "" || has(v.subPathExpr) && v.subPathExpr != ""
    || !variables.volumes.exists(x, x.name == v.name) ? "?"
    : variables.volumes.filter(x, x.name == v.name).map(x, `)
	for _, kind := range []string{
		facts.VolumeHostPath, "emptyDir", "configMap", "secret", "projected", "downwardAPI", "csi",
		facts.VolumeImage, "nfs", "iscsi", "fc", "flexVolume", "gitRepo",
	} {
		b.WriteString("has(x." + kind + ") ? " + quote(kind) + " : ")
	}
	b.WriteString(`"?")[0]`)
	return b.String()
}

// clean is path.Clean of an absolute path, or of a relative one below the root;
// "?" where it goes up.
func clean(path string) string {
	return `(` + path + `.split("/").exists(s, s == "..") ? "?" : "/" + ` + path + `.split("/").filter(s, s != "" && s != ".").join("/"))`
}

// csiNodes are the names of the containers with the role csi-node: surely, or
// maybe. See facts.Role.
func csiNodes(root string, maybe bool) string {
	below := func(dir string) expr {
		e, _ := pathGlob{dir, "**"}.matches("m.source")
		return e
	}
	child := func(dir string) expr {
		return expr(`m.source.startsWith(` + quote(facts.JoinRoot(root, dir)+"/") + `)`)
	}
	kubernetes := func(dir string) expr { return below(facts.JoinRoot(root, dir+"/kubernetes.io")) }
	shares := and(`m.propagation == "shared"`, or(below(root), `m.source == "?pods"`))
	own := or(and(child("plugins"), not(kubernetes("plugins"))), and(child("csi-plugins"), not(kubernetes("csi-plugins"))))
	if maybe {
		shares = and(`m.propagation in ["shared", "?"]`, or(below(root), `m.source.startsWith("?")`))
		own = or(own, `m.source == "?"`)
	}
	return "variables.mounts.filter(c, c.exists(m, " + string(shares) + ")\n  && c.exists(m, " + string(own) + ")).map(c, c[0].container)"
}

// needed are the variables that the texts ask for, and those that these do.
func needed(all []Variable, texts ...string) []Variable {
	var keep []Variable
	for i := len(all) - 1; i >= 0; i-- {
		for _, text := range texts {
			if asks(text, all[i].Name) {
				keep = append([]Variable{all[i]}, keep...)
				texts = append(texts, all[i].Expression)
				break
			}
		}
	}
	return keep
}

// asks reports whether an expression has a variable.
func asks(text, name string) bool {
	for {
		_, after, found := strings.Cut(text, "variables."+name)
		if !found {
			return false
		}
		if after == "" || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", rune(after[0])) {
			return true
		}
		text = after
	}
}
