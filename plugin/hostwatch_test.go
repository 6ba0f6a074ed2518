package main

import "testing"

// TestAHostPathIsToldOnceAChange: and what is seen for the first time is none.
func TestAHostPathIsToldOnceAChange(t *testing.T) {
	var h hostPaths
	for i, step := range []struct {
		path                   string
		shared, changed, first bool
	}{
		{"/a", false, false, true},
		{"/a", false, false, false},
		{"/b", true, false, true},
		{"/a", true, true, false},
		{"/a", true, false, false},
		{"/b", false, true, false},
		{"/a", false, true, false},
	} {
		changed, first := h.see(step.path, step.shared)
		if changed != step.changed || first != step.first {
			t.Errorf("step %d: changed %t, first %t", i, changed, first)
		}
	}
}
