package doctor

import (
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/facts"
)

// FuzzPluginName wants NRI's own reading of a name.
func FuzzPluginName(f *testing.F) {
	for _, name := range []string{"90-mountward", "90-mountward~", "9-x", "ab-c", "90-", "-", "90", "٣٣-x"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		index, base, err := api.ParsePluginName(name)
		if err != nil {
			index, base = "", ""
		}
		if gotIndex, gotBase := pluginName(name); gotIndex != index || gotBase != base {
			t.Errorf("%q is read as %q, %q; NRI reads %q, %q, %v", name, gotIndex, gotBase, index, base, err)
		}
	})
}

// FuzzSockets wants no socket that is not in the list.
func FuzzSockets(f *testing.F) {
	const file = "/var/run/nri/nri.sock"
	f.Add(listens + "\n" + connected)
	f.Add("Num       RefCount Protocol Flags    Type St Inode Path\n" + strings.TrimSuffix(listens, file))
	f.Fuzz(func(t *testing.T, list string) {
		var s nriSocket
		s.read(strings.NewReader(list), file)
		if said := strings.Count(list, " "+file); s.connected > said || s.listens.Truth == facts.Yes && said == 0 {
			t.Errorf("%+v of a list that has the path %d times", s, said)
		}
		if s.listens.Why == "" {
			t.Error("an answer without a reason")
		}
	})
}
