//go:build linux

package harness

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
)

// The image has two names: as the pause image of sandboxes and as the image of
// containers.
const (
	pauseImage = "docker.io/local/pause:1"
	testImage  = "docker.io/local/test:1"
)

// WriteImage writes a docker archive of an image that holds the agent, empty
// directories and symlinks, as path and target.
func WriteImage(path, agent string, symlinks map[string]string) error {
	program, err := os.ReadFile(agent)
	if err != nil {
		return fmt.Errorf("read agent: %w", err)
	}
	layer, err := tarball(layerEntries(program, symlinks))
	if err != nil {
		return fmt.Errorf("make image layer: %w", err)
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": []string{"/agent"}, "WorkingDir": "/"},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return fmt.Errorf("make image config: %w", err)
	}
	manifest, err := json.Marshal([]map[string]any{{
		"Config":   "config.json",
		"RepoTags": []string{pauseImage, testImage},
		"Layers":   []string{"layer.tar"},
	}})
	if err != nil {
		return fmt.Errorf("make image manifest: %w", err)
	}
	archive, err := tarball([]entry{
		{tar.Header{Name: "manifest.json", Mode: 0o644}, manifest},
		{tar.Header{Name: "config.json", Mode: 0o644}, config},
		{tar.Header{Name: "layer.tar", Mode: 0o644}, layer},
	})
	if err != nil {
		return fmt.Errorf("make image archive: %w", err)
	}
	if err := os.WriteFile(path, archive, 0o644); err != nil {
		return fmt.Errorf("write image: %w", err)
	}
	return nil
}

// entry is a member of a tar archive.
type entry struct {
	header tar.Header
	data   []byte
}

func layerEntries(agent []byte, symlinks map[string]string) []entry {
	var entries []entry
	for _, dir := range []string{"dev", "etc", "proc", "run", "sys", "tmp", "var"} {
		entries = append(entries, entry{header: tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755}})
	}
	entries = append(entries, entry{tar.Header{Name: "agent", Mode: 0o755}, agent})
	names := make([]string, 0, len(symlinks))
	for name := range symlinks {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		entries = append(entries, entry{header: tar.Header{
			Typeflag: tar.TypeSymlink, Name: name, Linkname: symlinks[name], Mode: 0o777,
		}})
	}
	return entries
}

func tarball(entries []entry) ([]byte, error) {
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
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
