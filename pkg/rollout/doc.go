// Package rollout counts what a policy in audit mode would have refused, and
// for how long it has watched, so that a person can see what an enforced one
// would do before it does. It only advises.
//
// The count is that of one policy text: another text begins anew. It is kept in
// one small file, so that a restart or a reboot does not.
package rollout
