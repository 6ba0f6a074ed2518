package strict

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// FuzzDecode checks that what Decode accepts is what go-toml's own strict mode
// accepts, with the same value, and that every error has a place in the file.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"version = 1\nmode = 'a'\n[[rule]]\nname = 'x'\nmatch.source = ['/a', # c\n '/b']\n[rule.match.pod_labels]\na = 1",
		"[rule]\n[rule]\n[[rule]]\nrule = [{match = {source = [[]], x.y = 1}}]\n[audit]\njournal = true\n",
		"[[rule]]\n[rule.match]\naction = 1\n[[rule.match]]\n[audit.x]\naudit.y = 1979-05-27T07:32:00Z",
		"a = \"\"\"\n\\\n x\"\"\"\nb = '''\n'''\n\"\" = inf\n'\\n' = 0x_1\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want file
		d, err := Decode("f", data, &got)
		if err != nil {
			inside(t, err, data)
			return
		}
		if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&want); err != nil {
			t.Fatalf("accepted what go-toml does not: %v", err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, go-toml has %+v", got, want)
		}
		for i := range got.Rules {
			if !d.Has("rule", i) {
				t.Fatalf("rule %d has no position", i)
			}
		}
	})
}

// FuzzSalvage checks that Salvage takes any text, and of a good one everything
// that it can fill in.
func FuzzSalvage(f *testing.F) {
	for _, seed := range []string{
		"mode = 'a'\nlist = ['a', 'b']\n[audit]\njournal = true",
		"mode = 'a\nlist = ['a',\n[audit\njournal = yes",
		"[[audit]]\njournal = true\n[[audit]]\n[Audit]\r# x\x00\r",
		"audit = {journal = true, audit = [{}]}\n]}{\n\xef\xbb\xbf",
	} {
		f.Add([]byte(seed))
	}
	type texts struct {
		Mode  string   `toml:"mode"`
		List  []string `toml:"list"`
		Audit struct {
			Journal bool `toml:"journal"`
		} `toml:"audit"`
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want, got texts
		before := bytes.Clone(data)
		d := Salvage("f", data, &got)
		if !bytes.Equal(before, data) || d == nil {
			t.Fatalf("the text was changed, or no document: %v", d)
		}
		if _, err := Decode("f", data, &want); err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v of a good text, want %+v", got, want)
		}
	})
}

// FuzzGrammar checks that Decode and go-toml agree about what TOML is, where
// any key is allowed.
func FuzzGrammar(f *testing.F) {
	for _, seed := range []string{
		"a.b.c = 1\na.b.d = 2\n[a.x]\n[a.b.e]\n[a]",
		"[a.b.c]\nz=9\n[a]\nb.c.t = 1",
		"[[a]]\n[a.b]\n[[a.c]]\n[[a]]\nb.c = {d.e = [1, {f = 2}]}\n[a.b.d]",
		"a = [1, [2, {b = 3}], # c\n]\n[[a]]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, want map[string]any
		_, err := Decode("f", data, &got)
		wantErr := toml.Unmarshal(data, &want)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error is %v, go-toml has %v", err, wantErr)
		}
		if err != nil {
			inside(t, err, data)
		}
	})
}

func inside(t *testing.T, err error, data []byte) {
	t.Helper()
	var all Errors
	ok := errors.As(err, &all)
	if !ok || len(all) == 0 {
		t.Fatalf("error is %T, want Errors", err)
	}
	lines := bytes.Split(data, []byte("\n"))
	for _, e := range all {
		if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len(lines[e.Line-1])+1 {
			t.Fatalf("%v is not in the file", e)
		}
	}
}
