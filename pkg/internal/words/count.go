// Package words puts figures into sentences.
package words

import (
	"fmt"
	"strings"
)

// Count is a number with its noun, in the plural where it needs one. The noun is
// one whose plural is made with s or es.
func Count[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
