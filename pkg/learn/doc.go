// Package learn writes a policy that allows what is running and nothing more,
// with the tests that hold it to that. It is pure: the same containers give the
// same bytes.
//
// What is learned is how far mounts propagate, by namespace, workload, container
// and source. A mount that asks for rprivate or runbindable lets nothing through
// after its start, whatever its source: one rule allows those of everybody, also
// those that the kubelet, the runtime and images make. For all others a source is
// allowed the propagation that was seen of it in that container of that workload,
// or less. The default denies the rest. The mode is "audit": an administrator
// looks at what would be refused before it is.
//
// A workload is known by the names of its pods without what controllers generate:
// web-7d9c5b8f4-x7k2p is of web. Names are chosen by whoever makes a pod in a
// namespace, so that it is the namespace that keeps tenants apart. The comment at
// the top of the policy says so, and names all that could not be learned.
package learn
