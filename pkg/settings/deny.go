package settings

import (
	"bytes"
	"regexp"
)

// denies finds on_policy_error = "deny" in a line that need not be TOML:
// without quotes, in another case, the end of the key misspelled.
var denies = regexp.MustCompile(`(?im)^[^#\n]*\bon_?pol\w*["']?\s*=\s*["']?deny`)

// asksToDeny reports whether a broken text asks, outside of comments, for
// everything to be refused without a policy. It is also found in UTF-16.
func asksToDeny(data []byte) bool {
	data = bytes.ReplaceAll(data, []byte{0}, nil)
	return denies.Match(bytes.ReplaceAll(data, []byte{'\r'}, []byte{'\n'}))
}
