// Package discover finds the kubelet and the runtime of a node, says by which
// source, and where sources disagree.
package discover
