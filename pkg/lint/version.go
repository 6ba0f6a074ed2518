package lint

import (
	"fmt"
	"strconv"
	"strings"
)

// OfContainerd returns the version of NRI that a release of containerd, such as
// "2.1" or "v2.4.2", was built with, and an error for one that is not known.
// Source: the go.mod files of the releases.
func OfContainerd(release string) (string, error) {
	numbers, ok := numbers(release)
	if !ok || len(numbers) < 2 {
		return "", fmt.Errorf("containerd version %q: write it as 2.1 or 2.4.2", release)
	}
	minor := [2]int{numbers[0], numbers[1]}
	switch {
	case minor == [2]int{1, 7}:
		return "0.8.0", nil // before 1.7.26 older ones
	case minor == [2]int{2, 0}, minor == [2]int{2, 1}:
		return "0.8.0", nil
	case minor == [2]int{2, 2}:
		return "0.11.0", nil
	case minor == [2]int{2, 3}:
		return "0.12.0", nil
	case minor[0] == 2 && minor[1] >= 4:
		return "0.12.3", nil
	default:
		return "", fmt.Errorf("containerd version %q: known are 1.7 and 2.0 to 2.4", release)
	}
}

// older reports whether a version comes before another. One that cannot be read
// does not.
func older(version, than string) bool {
	a, okA := numbers(version)
	b, okB := numbers(than)
	if !okA || !okB {
		return false
	}
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			return i >= len(a) || a[i] < b[i]
		}
	}
	return false
}

func numbers(version string) ([]int, bool) {
	plain, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	var all []int
	for part := range strings.SplitSeq(plain, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, false
		}
		all = append(all, n)
	}
	return all, true
}
