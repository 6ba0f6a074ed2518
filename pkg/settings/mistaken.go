package settings

import "github.com/mountward/mountward/pkg/internal/strict"

// Mistaken reports whether a text that was taken for a policy is one of
// mountward.toml: it has keys of settings and none of a policy.
func Mistaken(text []byte) bool {
	document, _ := strict.Decode("", text, new(map[string]any)) // only what it has matters
	has := func(keys ...string) bool {
		for _, key := range keys {
			if document.Has(key) {
				return true
			}
		}
		return false
	}
	return has("policy", "state_dir", "runtime_dir", "audit", "guard", "host", "log") &&
		!has("version", "mode", "default", "rule")
}
