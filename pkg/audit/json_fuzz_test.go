package audit

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// undo takes the rules back on what encoding/json decoded.
func undo(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = undo(v[i])
		}
		return v
	case map[string]any:
		if text, ok := v["b64"].(string); ok && len(v) == 1 {
			return unbase64(text)
		}
		out := map[string]any{}
		for key, value := range v {
			if text, ok := strings.CutPrefix(key, "b64:"); ok {
				out[unbase64(text)] = undo(value)
			} else if text, ok := strings.CutSuffix(key, "_b64"); ok {
				out[text] = unbase64(value.(string))
			} else {
				out[key] = undo(value)
			}
		}
		return out
	default:
		return v
	}
}

func unbase64(text string) string {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Sprintf("%s: %v", text, err)
	}
	return string(data)
}

func FuzzMarshal(f *testing.F) {
	f.Add("a", "b", "k", 1)
	f.Add("\xff\n", "{\"b64\":\"\"}", "b64:\x00", -7)
	f.Add("\ufffd", "\u202e\U0001f600", "\xed\xa0\x80", 0)
	f.Fuzz(func(t *testing.T, text, element, key string, number int) {
		type event struct {
			Text string            `json:"text"`
			List []any             `json:"list"`
			Map  map[string]string `json:"labels"`
			Deep facts.Mount       `json:"mount"`
		}
		// Members of a struct are undone by suffix; keys of a map that look like
		// that are data, and a reader who knows the schema leaves them.
		key = strings.ReplaceAll(key, "_b64", "")
		if key == "b64" {
			key = ""
		}
		data, err := Marshal(event{
			Text: text, List: []any{element, number}, Map: map[string]string{key: text},
			Deep: facts.Mount{Destination: text, Options: []string{element, text}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range data {
			if c < ' ' || c == 0x7f {
				t.Errorf("control character %q in %q", c, data)
			}
		}
		var got any
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		want := map[string]any{
			"text": text, "list": []any{element, float64(number)}, "labels": map[string]any{key: text},
			"mount": map[string]any{"destination": text, "options": []any{element, text}},
		}
		if diff := cmp.Diff(want, undo(got)); diff != "" {
			t.Errorf("values (-want +got):\n%s\n%s", diff, data)
		}
	})
}
