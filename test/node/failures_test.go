//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatFailedIsRepeatedAtTheEnd(t *testing.T) {
	long := strings.Repeat("    a_test.go:3: line\n", saidAtMost+2)
	for _, test := range []struct{ name, output, want string }{
		{"nothing failed", "=== RUN   TestA\n    a_test.go:1: fine\n--- PASS: TestA (0.00s)\nPASS\n", ""},
		{
			"one of two",
			"=== RUN   TestA\n    a_test.go:1: fine\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:2: not so\n--- FAIL: TestB (0.00s)\nFAIL\n",
			"== not passed: TestB\n   |     b_test.go:2: not so\n",
		},
		{
			"a part, and what its test says after it",
			"=== RUN   TestA\n=== RUN   TestA/one\n    a_test.go:1: one\n=== NAME  TestA\n    a_test.go:9: after\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/one (0.00s)\n",
			"== not passed: TestA\n   |     a_test.go:9: after\n== not passed: TestA/one\n   |     a_test.go:1: one\n",
		},
		{"without a verdict", "=== RUN   TestA\n    a_test.go:1: waits\npanic: test timed out\n", "== not passed: TestA\n   |     a_test.go:1: waits\n   | panic: test timed out\n"},
		{"after the last", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nleft behind: /mnt\n", "== not passed: (at the end)\n   | left behind: /mnt\n"},
		{"much", "=== RUN   TestA\n" + long + "--- FAIL: TestA (0.00s)\n", "== not passed: TestA\n   | (2 lines before)\n" + strings.Repeat("   |     a_test.go:3: line\n", saidAtMost)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, failures(test.output)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
