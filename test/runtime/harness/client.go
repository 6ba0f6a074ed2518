//go:build linux

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// patience is how long a node has for one step before it counts as hanging.
const patience = 2 * time.Minute

// connect makes the CRI clients. The connection is made, and made again after a
// restart, when it is used.
func (n *Node) connect() error {
	conn, err := grpc.NewClient("unix://"+n.Address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 5 * time.Millisecond, Multiplier: 1.5, MaxDelay: 100 * time.Millisecond},
		}))
	if err != nil {
		return fmt.Errorf("connect to containerd: %w", err)
	}
	n.conn = conn
	n.runtime = cri.NewRuntimeServiceClient(conn)
	n.images = cri.NewImageServiceClient(conn)
	return nil
}

// WaitReady waits until CRI answers, or containerd has ended.
func (n *Node) WaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return n.poll(ctx, "wait for containerd", func() error {
		_, err := n.runtime.Status(ctx, &cri.StatusRequest{})
		return err
	})
}

// poll calls a function until it gives no error.
func (n *Node) poll(ctx context.Context, op string, try func() error) error {
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-n.process.exited:
			return fmt.Errorf("%s: containerd ended: %w\n%s", op, n.process.err, n.LogTail())
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w", op, ctx.Err(), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// LogTail is the end of what containerd wrote.
func (n *Node) LogTail() string {
	data, err := os.ReadFile(n.Log)
	if err != nil {
		return err.Error()
	}
	const most = 3 << 10
	return string(data[max(0, len(data)-most):])
}

// importImage gives containerd the test image and waits until CRI knows it.
func (n *Node) importImage(symlinks map[string]string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	archive := filepath.Join(n.Dir, "image.tar")
	if err := WriteImage(archive, n.Binaries.Agent, symlinks); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, n.Binaries.Ctr, "-a", n.Address, "-n", "k8s.io", "image", "import", archive).CombinedOutput()
	if err != nil {
		return fmt.Errorf("import image: %w: %s", err, out)
	}
	for _, name := range []string{pauseImage, testImage} {
		err := n.poll(ctx, "wait for image", func() error {
			r, err := n.images.ImageStatus(ctx, &cri.ImageStatusRequest{Image: &cri.ImageSpec{Image: name}})
			if err == nil && r.GetImage() == nil {
				err = errors.New(name + " is missing")
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
