package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/runtimeconf"
)

// shortTimeout is a request timeout that no plugin on a busy node keeps. Most
// that are below it are a number without a unit, which is one of nanoseconds.
const shortTimeout = 200 * time.Millisecond

// guard says whether mountward, where it is installed, is a guard that holds
// when it fails. By itself NRI fails open: a plugin that is gone or late is left
// out, and the container starts without it.
func (r *containerd) guard(socket nriSocket) []Finding {
	all := r.timeout()
	all = append(all, r.requiredOff()...)
	all = append(all, r.requiredMissing(socket)...)
	if r.needs == "" {
		return all
	}
	all = append(all, r.connected(socket), r.failOpen())
	all = append(all, r.policyWritable()...)
	if r.requires() {
		all = append(all, r.toleration()...)
		all = append(all, r.bootstrap()...)
	}
	return all
}

// requires reports whether containers are refused while mountward is away.
func (r *containerd) requires() bool { return r.config.Requires(pluginBase) }

func (r *containerd) noValidator() bool {
	return r.config.Release.Before(2, 2)
}

func (r *containerd) timeout() []Finding {
	t := r.config.NRI.RequestTimeout
	f := Finding{Code: codeTimeout, Answer: facts.Yes, Subject: "plugin_request_timeout", Evidence: r.evidence(t.At, "plugin_request_timeout")}
	switch {
	case t.Value < shortTimeout:
		f.Answer = facts.No
		f.Message = fmt.Sprintf("NRI waits %v for a plugin: containerd drops every plugin at its first request", t.Value)
		f.Cause = "a number without a unit is one of nanoseconds"
		f.Effect = "containers start without the changes of any plugin"
		f.Fixes = []Fix{r.dropIn("give a time with its unit", runtimeconf.NRITable, `plugin_request_timeout = "2s"`)}
	case r.needs != "":
		f.Message = fmt.Sprintf("NRI waits %v for a plugin to answer before it drops it; mountward answers by itself at 70 %% of that", t.Value)
	default:
		return nil
	}
	return []Finding{f}
}

// requiredOff finds a list of required plugins that nothing looks at.
func (r *containerd) requiredOff() []Finding {
	v := r.config.NRI.Validator
	if len(v.RequiredPlugins.Value) == 0 || v.Enable.Value || r.noValidator() {
		return nil // an older containerd: an orphan, told of with the configuration
	}
	return []Finding{{
		Code: codeRequiredOff, Answer: facts.No, Subject: "required_plugins",
		Message: fmt.Sprintf("required_plugins = %q has no effect: the default validator is not enabled", v.RequiredPlugins.Value),
		Evidence: append(r.evidence(v.RequiredPlugins.At, "required_plugins"),
			r.evidence(v.Enable.At, "enable")...),
		Effect: "containers start while these plugins are away",
		Fixes:  []Fix{r.dropIn("enable it", runtimeconf.ValidatorTable, "enable = true")},
	}}
}

// requiredMissing finds required plugins that cannot be there. What a plugin on
// the socket is called, only containerd knows.
func (r *containerd) requiredMissing(socket nriSocket) []Finding {
	v := r.config.NRI.Validator
	if !v.Enable.Value || r.noValidator() {
		return nil
	}
	var all []Finding
	for _, name := range v.RequiredPlugins.Value {
		ours, launched := required([]string{name}), r.launches(name)
		if launched == facts.Yes || ours && len(r.running) > 0 {
			continue
		}
		f := Finding{
			Code: codeRequiredMissing, Answer: facts.No, Subject: name,
			Evidence: append(r.evidence(v.RequiredPlugins.At, "required_plugins"), Evidence{Text: socket.listens.Why, Show: socket.show}),
		}
		switch {
		case launched == facts.Unknown:
			f.Answer = facts.Unknown
		case r.config.NRI.DisableConnections.Value:
			f.Message = fmt.Sprintf("containerd requires the plugin %q, launches none of that name, and lets none connect", name)
		case socket.listens.Truth != facts.Yes:
			f.Answer = facts.Unknown
		case socket.connected == 0:
			f.Message = fmt.Sprintf("containerd requires the plugin %q, and neither launches it nor has it connected", name)
		case ours && r.blind == "":
			f.Message = fmt.Sprintf("containerd requires the plugin %q, and no process of it runs", name)
		default:
			continue // one of those that are connected, or not: containers tell
		}
		if f.Answer == facts.Unknown {
			f.Message = fmt.Sprintf("cannot tell whether the required plugin %q is there", name)
		}
		f.Effect = "no container can be created but those that the toleration annotation lets through"
		f.Fixes = []Fix{{What: "start the plugin, or take its name out of required_plugins and restart containerd"}}
		if ours {
			f.Fixes = append([]Fix{r.serviceFix("start mountward", "start")}, f.Fixes...)
		}
		all = append(all, f)
	}
	return all
}

// launches says whether containerd launches a plugin of a name or index-name.
func (r *containerd) launches(name string) facts.Truth {
	answer := facts.No
	if len(r.dir.unread) > 0 {
		answer = facts.Unknown
	}
	for _, p := range r.dir.entries {
		switch {
		case p.base != name && p.name != name, p.dangling:
		case p.launched.Truth == facts.Yes:
			return facts.Yes
		case p.launched.Truth == facts.Unknown:
			answer = facts.Unknown
		}
	}
	return answer
}

// connected says whether mountward takes part now.
func (r *containerd) connected(socket nriSocket) Finding {
	f := Finding{Code: codeConnected, Answer: facts.Yes, Subject: pluginBase}
	for _, one := range r.running {
		f.Evidence = append(f.Evidence, one.evidence())
	}
	f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("%d connections; %s", socket.connected, socket.listens.Why), Show: socket.show})
	switch {
	case len(r.running) == 0 && r.blind != "":
		f.Answer, f.Message = facts.Unknown, "cannot tell whether mountward runs: "+r.blind
	case len(r.running) == 0:
		f.Answer = facts.No
		f.Message = "mountward is installed and does not run"
		f.Effect = "containers start without it"
		f.Fixes = []Fix{r.starting()}
		if slices.ContainsFunc(r.dir.launched(), func(p plugin) bool { return p.base == pluginBase }) {
			f.Cause = "containerd launches plugins when it starts, and never again one that ended or was too slow"
			f.Fixes = []Fix{r.restarting(Fix{What: "restart containerd"})}
		}
	case r.running[0].how == byContainerd:
		f.Message = "mountward runs, launched by containerd: " + r.running[0].String()
	case socket.listens.Truth == facts.Yes && socket.connected == 0:
		f.Answer = facts.No
		f.Message = "mountward runs and is not connected to NRI: " + r.running[0].String()
		f.Effect = "containers start without it"
		f.Fixes = []Fix{r.seeing()}
	case socket.connected > 0:
		f.Message = fmt.Sprintf("mountward runs, and %d plugins are connected to NRI: %s", socket.connected, r.running[0])
	default:
		f.Answer = facts.Unknown
		f.Message = "mountward runs, and it cannot be told whether it is connected: " + socket.listens.Why
	}
	return f
}

// failOpen sums up what happens while mountward is away. That NRI fails open is
// how it is made, and a node can be meant to be so; it is a problem only where
// the configuration says otherwise and does not do it: see requiredOff and
// requiredMissing.
func (r *containerd) failOpen() Finding {
	v := r.config.NRI.Validator
	f := Finding{Code: codeFailOpen, Answer: facts.Yes, Subject: pluginBase, Evidence: r.evidence(v.RequiredPlugins.At, "required_plugins")}
	if r.requires() {
		f.Message = "NRI fails closed: containers are refused while mountward is away"
		return f
	}
	enforces, mode := r.enforces()
	f.Evidence = append(f.Evidence, mode...)
	f.Effect = "while mountward is away or late, containers start with the mounts they ask for; what started is told when it is back"
	switch enforces.Truth {
	case facts.No:
		f.Message = "NRI fails open, which is right for a policy that only watches: " + enforces.Why
		return f
	case facts.Yes:
		f.Message = "NRI fails open: while mountward is away or late, containers start with the mounts they ask for, though the policy is to be enforced (" + enforces.Why + ")"
	default:
		f.Message = "NRI fails open: while mountward is away or late, containers start with the mounts they ask for; cannot tell whether the policy is to be enforced (" + enforces.Why + ")"
	}
	if r.noValidator() {
		f.Message += "; containerd 2.2 is the first that can close it, this is " + r.config.Release.String()
		f.Fixes = []Fix{{What: "update containerd", Persistent: true}}
		return f
	}
	names := tomlList(append(slices.Clone(v.RequiredPlugins.Value), pluginBase))
	f.Message += "; what closes it is the default validator of NRI with required_plugins = " + names
	f.Fixes = []Fix{r.dropIn("require mountward", runtimeconf.ValidatorTable, "enable = true", "required_plugins = "+names)}
	return f
}

// toleration says who can opt out. Whether the key is guarded, by an admission
// policy, is not to be seen on a node.
func (r *containerd) toleration() []Finding {
	t := r.config.NRI.Validator.TolerateMissing
	if t.Value == "" {
		return nil
	}
	f := Finding{
		Code: codeToleration, Answer: facts.Unknown, Subject: t.Value, Evidence: evidenceOf(t.At),
		Message: fmt.Sprintf("a pod with the annotation %q starts without mountward while that is away; cannot tell whether an admission policy keeps the key from pods", t.Value),
		Effect:  "without such a policy whoever can make a pod can get past mountward",
		Fixes:   []Fix{{What: "keep the key for static pods by a ValidatingAdmissionPolicy, or leave it empty", Persistent: true}},
	}
	if enforces, _ := r.enforces(); enforces.Truth == facts.No {
		f.Answer = facts.Yes
		f.Message = fmt.Sprintf("a pod with the annotation %q starts without mountward while that is away; the policy only watches", t.Value)
	}
	return []Finding{f}
}

// bootstrap finds a mountward that containerd requires for the container that
// mountward runs in.
func (r *containerd) bootstrap() []Finding {
	if len(r.running) == 0 || slices.ContainsFunc(r.running, func(d daemon) bool { return d.how != byContainer }) {
		return nil
	}
	f := Finding{
		Code: codeBootstrap, Answer: facts.No, Subject: pluginBase,
		Evidence: append(r.evidence(r.config.NRI.Validator.RequiredPlugins.At, "required_plugins"), r.running[0].evidence()),
		Message:  "mountward runs in a container and is required: once it is away, its own container is refused too",
		Effect:   "after a reboot no container of this node can be created, static pods included",
		Fixes:    []Fix{{What: "run it as a service of the host, or let its own pod tolerate its absence by the annotation", Persistent: true}},
	}
	if key := r.config.NRI.Validator.TolerateMissing; key.Value != "" {
		f.Answer = facts.Unknown
		f.Evidence = append(f.Evidence, evidenceOf(key.At)...)
		f.Message = fmt.Sprintf("mountward runs in a container and is required; cannot tell whether its own pod has the annotation %q, without which it cannot come back", key.Value)
	}
	return []Finding{f}
}

func tomlList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
