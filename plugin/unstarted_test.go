package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
)

// TestOnlyWhatNoStartWasAskedAboutHasNeverStarted: however the start is answered, in
// an emergency without a look at it.
func TestOnlyWhatNoStartWasAskedAboutHasNeverStarted(t *testing.T) {
	for _, emergency := range []bool{false, true} {
		t.Run(fmt.Sprintf("emergency %t", emergency), func(t *testing.T) {
			_, p := turnPlugin(t, enforcing, "", time.Second)
			for _, id := range []string{"started", "created"} {
				p.created.add(id)
			}
			if emergency {
				if _, err := p.daemon.Emergency(time.Minute); err != nil {
					t.Fatal(err)
				}
			}
			// Without a host it panics, which is answered.
			err := p.StartContainer(t.Context(), pod(false), &api.Container{Id: "started"})
			if (err == nil) != emergency {
				t.Errorf("start: %v", err)
			}
			if p.created.take("started") || !p.created.take("created") {
				t.Error("a start was asked about one of them, and not about the other")
			}
		})
	}
}

// TestWhatFindsNoRoomIsNotKnown: nobody says of it that it never started.
func TestWhatFindsNoRoomIsNotKnown(t *testing.T) {
	var u unstarted
	for i := range maxUnstarted + 1 {
		u.add(fmt.Sprint(i))
	}
	if !u.take("0") || u.take("0") || u.take(fmt.Sprint(maxUnstarted)) {
		t.Error("more are known than there is room for, or one is known twice")
	}
}
