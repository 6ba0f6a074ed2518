package words

import "testing"

func TestANumberIsWrittenWithItsNoun(t *testing.T) {
	for _, test := range []struct {
		n          int
		noun, want string
	}{
		{0, "mount", "0 mounts"},
		{1, "mount", "1 mount"},
		{2, "mount", "2 mounts"},
		{1, "process", "1 process"},
		{2, "process", "2 processes"},
		{2, "mount namespace", "2 mount namespaces"},
	} {
		if got := Count(test.n, test.noun); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
