//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// mark is how long the trail is now.
func (c *chaos) mark() int64 {
	info, err := os.Stat(c.ward.Audit)
	if err != nil {
		return 0 // not there yet
	}
	return info.Size()
}

// awaitSynchronized waits until mountward says, later than a mark, that the
// runtime has synchronized it.
func (c *chaos) awaitSynchronized(mark int64) error {
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(c.ward.Audit)
		if err == nil && bytes.Contains(text[min(mark, int64(len(text))):], []byte(ward.Synchronized)) {
			return nil
		}
	}
	return errors.New("wait for mountward: it does not get connected")
}

// awaitConnected waits until a container that the policy denies is refused for
// that.
func (c *chaos) awaitConnected() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var last error
	for ctx.Err() == nil {
		s, err := c.node.RunSandbox(ctx, harness.Pod{Namespace: "probe", Privileged: true})
		if err != nil {
			last = err
			continue
		}
		denied := shape{name: "probe", privileged: true, volumes: []volume{{at: "/deny"}}}
		_, err = c.node.CreateContainer(ctx, s, c.container(denied, "probe", "probe", nil))
		if removeErr := c.node.RemoveSandbox(ctx, s.ID); removeErr != nil {
			return removeErr
		}
		if isOurs(err) || c.mode != "enforce" {
			return nil
		}
		last = err
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("wait for mountward: it refuses nothing: %w", last)
}
