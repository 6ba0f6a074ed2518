//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
)

// writeImage writes a docker archive of an image that holds the agent and the
// directories that a runtime mounts on. It has two names, as the pause image of
// sandboxes and as the image of containers.
func writeImage(path, agent string) error {
	program, err := os.ReadFile(agent)
	if err != nil {
		return fmt.Errorf("read agent: %w", err)
	}
	entries := []tarEntry{{tar.Header{Name: "agent", Mode: 0o755}, program}}
	for _, dir := range []string{"dev", "etc", "proc", "run", "sys", "tmp", "var"} {
		entries = append(entries, tarEntry{header: tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}})
	}
	layer, err := archive(entries)
	if err != nil {
		return fmt.Errorf("make image layer: %w", err)
	}
	config, err := json.Marshal(map[string]any{
		"architecture": "amd64",
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{"/agent"}},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return fmt.Errorf("make image config: %w", err)
	}
	manifest, err := json.Marshal([]map[string]any{{
		"Config":   "config.json",
		"RepoTags": []string{"docker.io/local/pause:1", "docker.io/local/test:1"},
		"Layers":   []string{"layer.tar"},
	}})
	if err != nil {
		return fmt.Errorf("make image manifest: %w", err)
	}
	image, err := archive([]tarEntry{
		{tar.Header{Name: "manifest.json", Mode: 0o644}, manifest},
		{tar.Header{Name: "config.json", Mode: 0o644}, config},
		{tar.Header{Name: "layer.tar", Mode: 0o644}, layer},
	})
	if err != nil {
		return fmt.Errorf("make image: %w", err)
	}
	return os.WriteFile(path, image, 0o644)
}

// tarEntry is a member of a tar archive.
type tarEntry struct {
	header tar.Header
	data   []byte
}

func archive(entries []tarEntry) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		e.header.Size = int64(len(e.data))
		if err := w.WriteHeader(&e.header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
