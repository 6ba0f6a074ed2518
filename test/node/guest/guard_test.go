//go:build linux

package guest

import (
	"testing"

	"github.com/mountward/mountward/test/runtime/matrix"
)

// guardPolicy has the rules of the matrix, and one that is content where it
// cannot be made true.
const guardPolicy = matrix.Policy + `
[[rule]]
name = "lower-or-leave"
match.namespace = ["lower-or-leave"]
match.destination = ["/data"]
action = "set"
propagation = "rprivate"
on_unmet = "leave"
`

// TestGuard is what becomes of mounts with the daemon under its shipped unit,
// which has no capability: all goes by the specification.
func TestGuard(t *testing.T) {
	n := connect(t)
	enforce(t, guardPolicy)
	n.guards(t, false)
	stays(t)
}

// guards runs what a mount can ask for and what a rule can make of it, and the
// traps, where mounts may be changed inside containers and where they may not.
func (n *node) guards(t *testing.T, inside bool) {
	t.Helper()
	rows := matrix.Pairs()
	older := suite() == "bookworm" // there is the way without statmount
	if older {
		rows = matrix.Few()
	}
	t.Run("matrix", func(t *testing.T) { n.rows(t, rows, service) })
	if older && !full() {
		return
	}
	t.Run("another plugin before us", func(t *testing.T) { n.pluginBefore(newStack(t)) })
	t.Run("another plugin after us", func(t *testing.T) { n.pluginAfter(newStack(t)) })
	t.Run("bind without a word", func(t *testing.T) { n.withoutAWord(newStack(t), inside) })
	t.Run("user namespace", func(t *testing.T) { n.userNamespace(newStack(t), inside) })
}
