package strict

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type match struct {
	Source      []string       `toml:"source"`
	Namespace   []string       `toml:"namespace"`
	Labels      map[string]any `toml:"pod_labels"`
	Propagation []string       `toml:"propagation"`
	Privileged  *bool          `toml:"privileged"`
}

type rule struct {
	Name        string `toml:"name"`
	Action      string `toml:"action"`
	Propagation string `toml:"propagation"`
	Match       *match `toml:"match"`
}

type file struct {
	Version int    `toml:"version"`
	Mode    string `toml:"mode"`
	Rules   []rule `toml:"rule"`
	Audit   struct {
		Journal bool    `toml:"journal"`
		Share   float64 `toml:"share"`
	} `toml:"audit"`
	Untagged string
}

func TestDecodeGivesTheValues(t *testing.T) {
	yes := true
	tests := map[string]struct {
		text string
		want file
	}{
		"empty": {},
		"headers": {
			"version = 1\n[[rule]]\nname = 'a'\n[rule.match]\nsource = ['/a', '/b']\n[[rule]]\nname = 'b'\n[audit]\njournal = true",
			file{Version: 1, Rules: []rule{{Name: "a", Match: &match{Source: []string{"/a", "/b"}}}, {Name: "b"}}, Audit: struct {
				Journal bool    `toml:"journal"`
				Share   float64 `toml:"share"`
			}{Journal: true}},
		},
		"dotted keys": {
			"[[rule]]\nmatch.privileged = true\nmatch.pod_labels.app = ['x']\nmatch.pod_labels.\"a.b/c\" = 'y'",
			file{Rules: []rule{{Match: &match{Privileged: &yes, Labels: map[string]any{"app": []any{"x"}, "a.b/c": "y"}}}}},
		},
		"inline": {
			"rule = [{ name = 'a', match = {} }, { match.source = [] }]",
			file{Rules: []rule{{Name: "a", Match: &match{}}, {Match: &match{Source: []string{}}}}},
		},
		"a table above its list comes back": {
			"[audit]\n[[rule]]\nname = 'x'",
			file{Rules: []rule{{Name: "x"}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got file
			if _, err := Decode("f", []byte(test.text), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeReportsEverythingWithItsPlace(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"unknown key": {
			"version = 1\n\ncolour = 2",
			`f:3:1: unknown key "colour" (known here: audit, mode, rule, version)`,
		},
		"misspelled key in an inline table": {
			"[[rule]]\nmatch = { sorce = ['/a'] }",
			`f:2:11: unknown key "rule.match.sorce": did you mean "source"? (known here: namespace, pod_labels, privileged, propagation, source)`,
		},
		"another case": {
			"Mode = 'audit'\nmode = 'enforce'",
			`f:1:1: unknown key "Mode": write "mode", keys are case-sensitive`,
		},
		"another case in a dotted key and a header": {
			"[[Rule]]\n[[rule]]\nMatch.source = []",
			`f:1:3: unknown key "Rule": write "rule", keys are case-sensitive
f:3:1: unknown key "rule.Match": write "match", keys are case-sensitive`,
		},
		"another case hides nothing of its value": {
			"Version = 'one'\n[Audit]\nJournal = 1\njurnal = true",
			`f:1:1: unknown key "Version": write "version", keys are case-sensitive
f:1:11: "Version": want an integer, found a string
f:2:2: unknown key "Audit": write "audit", keys are case-sensitive
f:3:1: unknown key "Audit.Journal": write "journal", keys are case-sensitive
f:3:11: "Audit.Journal": want true or false, found an integer
f:4:1: unknown key "Audit.jurnal": did you mean "journal"? (known here: journal, share)`,
		},
		"a byte order mark": {
			"\xef\xbb\xbfmode = 'audit'\n",
			`f:1:1: no valid TOML: the file begins with a byte order mark (BOM): save it as UTF-8 without one`,
		},
		"UTF-16": {
			"\xff\xfem\x00o\x00d\x00e\x00",
			`f:1:1: no valid TOML: the file is UTF-16, TOML is UTF-8: save it as UTF-8`,
		},
		"UTF-16, the other order": {
			"\xfe\xff\x00m\x00o\x00d\x00e",
			`f:1:1: no valid TOML: the file is UTF-16, TOML is UTF-8: save it as UTF-8`,
		},
		"UTF-16 without a mark": {
			"m\x00o\x00d\x00e\x00",
			`f:1:2: no valid TOML: the file is UTF-16, TOML is UTF-8: save it as UTF-8`,
		},
		"line ends of CR alone": {
			"mode = 'audit'\rversion = 1\r",
			`f:1:15: no valid TOML: a line ends with a carriage return (CR) alone: save the file with line ends LF (Unix) or CRLF`,
		},
		"a comment with a line end of CR alone": {
			"# a policy\rversion = 1\r",
			`f:1:11: no valid TOML: a line ends with a carriage return (CR) alone: save the file with line ends LF (Unix) or CRLF`,
		},
		"another character that is wrong": {
			"mode = 'audit'\n\xef = 1",
			`f:2:1: no valid TOML: invalid character at start of key: U+00EF 'ï'`,
		},
		"a field without a tag has no key": {
			"Untagged = 'x'",
			`f:1:1: unknown key "Untagged" (known here: audit, mode, rule, version)`,
		},
		"a wrong type hides nothing": {
			"version = 'one'\nmodus = 'audit'\n[audit]\njournal = 1\njurnal = true",
			`f:1:11: "version": want an integer, found a string
f:2:1: unknown key "modus": did you mean "mode"? (known here: audit, mode, rule, version)
f:4:11: "audit.journal": want true or false, found an integer
f:5:1: unknown key "audit.jurnal": did you mean "journal"? (known here: journal, share)`,
		},
		"quotes": {
			"version = '1'\nmode = 3\n[audit]\njournal = 'true'\nshare = '2'",
			`f:1:11: "version": want an integer, found a string; write it without quotes
f:2:8: "mode": want a string, found an integer; write it in quotes
f:4:11: "audit.journal": want true or false, found a string; write it without quotes
f:5:9: "audit.share": want a number, found a string; write it without quotes`,
		},
		"string for a list": {
			"[[rule]]\nmatch.source = '/data'\nname = ['x']",
			`f:2:16: "rule.match.source": want a list of strings, found a string; write ["/data"]
f:3:8: "rule.name": want a string, found a list; write it without brackets`,
		},
		"elements of a list": {
			"[[rule]]\nmatch.source = [\n  '/a', # one\n  2,\n  { x = [1, 2] }, [[3]], [], 1979-05-27\n]",
			`f:4:3: "rule.match.source[1]": want a string, found an integer; write it in quotes
f:5:3: "rule.match.source[2]": want a string, found a table
f:5:19: "rule.match.source[3]": want a string, found a list; write it without brackets
f:5:26: "rule.match.source[4]": want a string, found a list
f:5:30: "rule.match.source[5]": want a string, found a date or time; write it in quotes`,
		},
		"one table for a list of tables": {
			"[rule]\nname = 'x'\nnam = 'y'",
			`f:1:2: "rule" is a list of tables: write [[rule]], not [rule]
f:3:1: unknown key "rule.nam": did you mean "name"? (known here: action, match, name, propagation)`,
		},
		"one table of many for a list": {
			"[rule]\nname = 'x'\n[rule]\nname = 2",
			`f:1:2: "rule" is a list of tables: write [[rule]], not [rule]
f:3:2: duplicate table "rule", first at line 1
f:3:2: "rule" is a list of tables: write [[rule]], not [rule]
f:4:8: "rule.name": want a string, found an integer; write it in quotes`,
		},
		"a list opened as one table": {
			"[[rule]]\nname = 'x'\n[rule]\nmame = 'y'",
			`f:3:2: "rule" is a list of tables since line 1: write [[rule]], not [rule]
f:4:1: unknown key "rule.mame": did you mean "name"? (known here: action, match, name, propagation)`,
		},
		"a table below a list that is not there": {
			"[rule.match]\nsource = []",
			`f:1:2: "rule" is a list of tables: write [[rule]] before the tables below it`,
		},
		"an inline table for a list of tables": {
			"rule = { name = 'x' }",
			`f:1:8: "rule": want a list of tables ([[rule]]), found a table`,
		},
		"a dotted key for a list of tables": {
			"rule.name = 'x'",
			`f:1:1: "rule": want a list of tables ([[rule]]), found a table`,
		},
		"a string for a list of tables": {
			"rule = 'x'",
			`f:1:8: "rule": want a list of tables ([[rule]]), found a string`,
		},
		"a list of tables for one": {
			"[[audit]]\njournal = true\n[[rule]]\n[[rule.match]]\n",
			`f:1:3: "audit" is one table, not a list: write [audit], not [[audit]]
f:4:8: "rule.match" is one table, not a list: write [rule.match], not [[rule.match]]`,
		},
		"a value for a table": {
			"audit = true\n[[rule]]\nmatch = []",
			`f:1:9: "audit": want a table, found a boolean
f:3:9: "rule.match": want a table, found a list`,
		},
		"keys that a header swallows": {
			"[[rule]]\nname = 'x'\n[rule.match]\nsource = ['/a']\naction = 'deny'\npropagation = 'rslave'",
			`f:5:1: unknown key "rule.match.action": "action" belongs to [[rule]], but a line after a header is part of that header; write it before the [rule.match] header or use dotted keys (match.KEY = ...) instead of that header
f:6:1: key "rule.match.propagation": "propagation" belongs to [[rule]], but a line after a header is part of that header; write it before the [rule.match] header or use dotted keys (match.KEY = ...) instead of that header`,
		},
		"keys of the file below a header": {
			"[[rule]]\nname = 'x'\nmode = 'audit'\n[audit]\nversion = 1",
			`f:3:1: unknown key "rule.mode": "mode" belongs to the top of the file, but a line after a header is part of that header; write it before the [[rule]] header
f:5:1: unknown key "audit.version": "version" belongs to the top of the file, but a line after a header is part of that header; write it before the [audit] header`,
		},
		"the same in an inline table is a plain unknown key": {
			"[[rule]]\nmatch = { action = 'deny' }",
			`f:2:11: unknown key "rule.match.action" (known here: namespace, pod_labels, privileged, propagation, source)`,
		},
		"nor is the wrong type in an inline table blamed on a header": {
			"[[rule]]\nmatch = { propagation = 'rslave' }",
			`f:2:25: "rule.match.propagation": want a list of strings, found a string; write ["rslave"]`,
		},
		"tables made by dotted keys": {
			"[[rule]]\nmatch.pod_labels.a = 1\n[rule.match]\n[rule.match.pod_labels.b]",
			`f:3:7: duplicate table "rule.match", first at line 2`,
		},
		"a dotted key into a table that a header made": {
			"[rule.match.pod_labels]\na = 1\n[rule]\nmatch.pod_labels.b = 2",
			`f:3:2: "rule" is a list of tables: write [[rule]], not [rule]
f:4:1: "rule.match" stands at line 1 and cannot be added to by a dotted key`,
		},
		"dotted keys in an inline table are complete with it": {
			"[[rule]]\nmatch = { pod_labels.a = 1, pod_labels.b = 2 }\n[rule.match.pod_labels.c]",
			`f:3:7: "rule.match" is complete since line 2 and cannot get tables below it`,
		},
		"duplicates": {
			"mode = 'a'\nmode = 'b'\n\"mode\" = 3\n[[rule]]\nname = 'x'\nmatch.source = []\nname = 'y'\nmatch.source = []\nmatch = {}",
			`f:2:1: duplicate key "mode", first at line 1
f:3:1: duplicate key "mode", first at line 1
f:3:10: "mode": want a string, found an integer; write it in quotes
f:7:1: duplicate key "rule.name", first at line 5
f:8:7: duplicate key "rule.match.source", first at line 6
f:9:1: duplicate key "rule.match", first at line 6`,
		},
		"duplicates in an inline table": {
			"[[rule]]\nmatch = { source = [], source = [] }",
			`f:2:24: duplicate key "rule.match.source", first at line 2`,
		},
		"tables that are complete": {
			"audit = {}\n[audit]\n[[rule]]\nmatch = { source = [] }\nmatch.namespace = []\n[rule.match]\n[rule.match.pod_labels]",
			`f:2:2: "audit" is complete since line 1
f:5:1: "rule.match" stands at line 4 and cannot be added to by a dotted key
f:6:7: "rule.match" is complete since line 4
f:7:7: "rule.match" is complete since line 4 and cannot get tables below it`,
		},
		"syntax": {
			"version = 1\nmode = audit\n",
			`f:2:8: no valid TOML: unexpected character U+0061 'a' at start of value`,
		},
		"syntax at the end, and what stands before it": {
			"modus = 'x'\nmode = ",
			`f:1:1: unknown key "modus": did you mean "mode"? (known here: audit, mode, rule, version)
f:2:7: no valid TOML: expected value, not end of input`,
		},
		"an integer that does not fit": {
			"version = 99999999999999999999",
			`f:1:11: decimal number is too large to fit in a 64-bit signed integer`,
		},
		"control characters in a key stay on their line": {
			"\"a\\nb\" = 1\n[audit.\"x\\ny\"]",
			`f:1:1: unknown key "a\nb" (known here: audit, mode, rule, version)
f:2:8: unknown key "audit.x\ny" (known here: journal, share)`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var into file
			_, err := Decode("f", []byte(test.text), &into)
			var all Errors
			if !errors.As(err, &all) {
				t.Fatalf("error is %T (%v), want Errors", err, err)
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefusesWhatItCannotJudge(t *testing.T) {
	var large struct{}
	_, err := Decode("f", make([]byte, MaxSize+1), &large)
	if err == nil || err.Error() != "f:1:1: the file is larger than 1 MiB" {
		t.Errorf("larger than 1 MiB: %v", err)
	}
	var into struct {
		T text      `toml:"t"`
		C chan bool `toml:"c"`
	}
	_, err = Decode("f", []byte("t = 'x'\nc = 1"), &into)
	want := "f:1:5: \"t\": no file can fill a strict.text\nf:2:5: \"c\": want nothing (no file can fill a chan), found an integer"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

type text string

func (*text) UnmarshalText([]byte) error { return nil }

func TestAtFindsKeysElementsAndAncestors(t *testing.T) {
	d, err := Decode("f", []byte(strings.TrimLeft(`
mode = "a"
[[rule]]
match.source = ["/a",
  "/b"]
[[rule]]
  [rule.match]
  pod_labels = { "x.y" = "z" }
`, "\n")), new(file))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		path []any
		want string
		has  bool
	}{
		"the file":            {nil, "f:1:1", true},
		"a key":               {[]any{"mode"}, "f:1:1", true},
		"a list":              {[]any{"rule"}, "f:2:3", true},
		"a table of a list":   {[]any{"rule", 1}, "f:5:3", true},
		"a dotted key":        {[]any{"rule", 0, "match", "source"}, "f:3:7", true},
		"an element":          {[]any{"rule", 0, "match", "source", 1}, "f:4:3", true},
		"a header's table":    {[]any{"rule", 1, "match"}, "f:6:9", true},
		"a quoted key":        {[]any{"rule", 1, "match", "pod_labels", "x.y"}, "f:7:18", true},
		"a missing key":       {[]any{"rule", 1, "name"}, "f:5:3", false},
		"a missing element":   {[]any{"rule", 0, "match", "source", 2}, "f:3:7", false},
		"a negative index":    {[]any{"rule", -1, "name"}, "f:2:3", false},
		"a step of no kind":   {[]any{"rule", 1.5}, "f:2:3", false},
		"below a plain value": {[]any{"mode", "x", 3}, "f:1:1", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := d.At(test.path...).String(); got != test.want {
				t.Errorf("at %s, want %s", got, test.want)
			}
			if got := d.Has(test.path...); got != test.has {
				t.Errorf("has: %v, want %v", got, test.has)
			}
		})
	}
}

func TestPositionWithoutALine(t *testing.T) {
	if got := (Position{File: "f"}).String(); got != "f" {
		t.Error(got)
	}
}
