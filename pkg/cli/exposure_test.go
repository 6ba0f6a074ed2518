package cli

import (
	"bytes"
	"errors"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
)

// TestTheExitCodeOfExposure: what was found counts, whatever else could not be
// read; that nobody was is only said where all could be.
func TestTheExitCodeOfExposure(t *testing.T) {
	for name, test := range map[string]struct {
		found   bool
		missing int
		code    int
		told    bool
	}{
		"nobody":                    {false, 0, ExitYes, true},
		"somebody":                  {true, 0, ExitNo, false},
		"somebody, and not all":     {true, 2, ExitNo, false},
		"nobody that could be read": {false, 2, ExitCannotTell, false},
	} {
		var stderr bytes.Buffer
		c := &cobra.Command{}
		c.SetErr(&stderr)
		err := new(exposureOptions).verdict(c, looked[exposed]{&node{}, exposed{searched: show.Searched{Containers: 3}}}, test.found, test.missing, "nobody", 5)
		code := ExitYes
		if e := (*exit)(nil); errors.As(err, &e) {
			code = e.code
		}
		if code != test.code || (stderr.Len() > 0) != test.told {
			t.Errorf("%s: exit code %d, want %d; %q", name, code, test.code, stderr.String())
		}
	}
}

// TestAPathOfTheCommandLineIsAsItWasWritten, below the working directory and
// without more slashes than it takes.
func TestAPathOfTheCommandLineIsAsItWasWritten(t *testing.T) {
	for here, paths := range map[string]map[string]string{
		"/":    {"x": "/x", "./x": "/x", ".//./x": "/x", ".": "/.", "./": "/", "../x": "/../x", "a/../b": "/a/../b", "/x//y": "/x//y"},
		"/usr": {"x": "/usr/x", "./x": "/usr/x", ".": "/usr/.", "./": "/usr/", "../x": "/usr/../x", ".x": "/usr/.x"},
	} {
		t.Chdir(here)
		for path, want := range paths {
			if got, err := absolute(path); got != want || err != nil {
				t.Errorf("%s from %s: %q, %v; want %q", path, here, got, err, want)
			}
		}
	}
}
