// Package manifest reads what a person has in a file of a container before, or
// without, the node that it runs on: the pods of Kubernetes manifests, an OCI
// specification (config.json), the output of "crictl inspect". It turns pods
// into the facts that a policy decides about: the mounts that the kubelet and
// containerd will ask for, with their sources on the host.
//
// It does no I/O. What a file cannot show is said and never guessed in silence:
// see Subject.Unknown and Note.
package manifest
