// Package policytest reads and runs the tests of a policy: "*_test.toml" files
// that describe containers and say what must be decided about their mounts. It
// is pure and decides nothing itself: role, hazards, decisions and outcomes come
// from the functions the daemon calls, see [Judge].
//
//	policy = ["policy.toml"]             # what is tested, from this file's directory
//
//	[host]                               # of every test below; all of it may be left out
//	kubelet_root  = "/var/lib/kubelet"   # "": not known
//	runtime_state = "/run/containerd"
//	runtime_root  = "/var/lib/containerd"
//	links         = { "/var/lib/kubelet" = "/data/kubelet" }
//	unresolved    = ["/mnt/nfs"]         # nothing at and below it can be resolved
//	mount         = [{ at = "/data", device = "253:3", propagation = "private" }]
//
//	[[test]]
//	name      = "an exporter may not mount onto the host"
//	pod       = { namespace = "monitoring", name = "exporter-x7k2p", labels = { app = "exporter" } }
//	container = { name = "exporter", privileged = "unknown" }
//	mount     = [
//	  { source = "/", destination = "/host", readonly = true },
//	  { source = "/var/lib/kubelet", propagation = "rshared", expect = { action = "deny", rule = "nobody-else" } },
//	]
//
// A drop-in is tested before it is in a policy.d, with drop_ins = ["new.toml"]
// below policy: it is read as if it were in that of the policy.
//
// Where policy names several, or has a glob, every test must hold for each.
//
// A pod has namespace, name, uid, id, labels, annotations, static and
// runtime_handler; a container has name, image, id, privileged (true, false or
// "unknown"; false where it is not said) and user_namespace. An image that is not
// said is not known, as with a runtime that does not tell it. A test may have a
// host of its own, whose keys take the place of the file's.
//
// A mount is what the kubelet asks for: a bind to destination (the same path as
// source where it is not said), with propagation (rprivate where it is not
// said, as Kubernetes has it) and readonly; or exactly the type and options that
// are written. The whole list counts, also mounts that nothing is expected of:
// role and hazards are computed from it.
//
// Which volume a mount is of is shown by its path, if the pod's uid is known. What
// no path shows, and the daemon finds in the kubelet's directories, is not known
// where it is not said: volume = { kind = "csi", name = "pvc-1", driver =
// "topolvm.io" }, each only where it is written; what the path shows to be
// otherwise fails the test. lv = ["vg0/pvc-1"] are the logical volumes that the
// mount is on, [] is none; without it rules about them are not tried, as before the
// container runs.
//
// On a host without a mount of its own for it, a path lies on "/", which is
// shared where it is not said. A mount has at, propagation as findmnt prints it ("shared", "private",
// "slave", "shared,slave", "unbindable"), device as lsblk prints it, root,
// fs_type and source.
//
// What is expected of a mount, each only where it is written: action; rule ("" is
// the policy's default, "hazards.MW101" its table of hazards); propagation that
// the mount has then; audited, the names of all rules that matched and were only
// recorded, by action = "audit" or mode = "audit"; outcome (unchanged, applied,
// left or refused); hazards, the codes of all recorded hazards that name the
// mount. Decisions are carried out as in mode "enforce" with the default settings.
//
// A file may also name containers of a table of workloads (see Effect) that its
// policy breaks on purpose; all others must live:
//
//	[workloads]
//	table  = "workloads.csv"
//	breaks = ["Cilium / *"]
package policytest
