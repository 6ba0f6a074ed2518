package policy

import (
	"testing"

	"github.com/mountward/mountward/config"
)

func TestWhatAPolicyCanReach(t *testing.T) {
	const head = "version = 1\nmode = \"enforce\"\n"
	const allow = head + "default = \"allow\"\n"
	const rule = allow + "[[rule]]\nname = \"r\"\nmatch.source = [\"/a\"]\n"
	tests := []struct {
		name, text            string
		denies, asksPrivilege bool
	}{
		{"built-in", string(config.Policy()), false, false},
		{"no rule", allow, false, false},
		{"default deny", head + "default = \"deny\"\n", true, false},
		{"a rule denies", rule + "action = \"deny\"\n", true, false},
		{"a rule asks", rule + "match.privileged = false\naction = \"allow\"\n", false, true},
		{"a rule asks under except", rule + "except.privileged = true\naction = \"deny\"\n", true, true},
		{"other keys under except", rule + "except.static_pod = true\naction = \"audit\"\n", false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := Parse(File{Name: "p.toml", Data: []byte(test.text)})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Denies(); got != test.denies {
				t.Errorf("Denies: %t, want %t", got, test.denies)
			}
			if got := p.AsksPrivilege(); got != test.asksPrivilege {
				t.Errorf("AsksPrivilege: %t, want %t", got, test.asksPrivilege)
			}
		})
	}
}
