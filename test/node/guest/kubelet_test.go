//go:build linux

package guest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The kubelet's directories, and what it and CSI drivers put there.

const (
	kubeletRoot = "/var/lib/kubelet"
	driver      = "lvm.example.com"
)

// handle is what the driver calls a volume.
func handle(pv string) string { return "handle-of-" + pv }

// podDir makes the kubelet's directory of a pod, if there is none.
func (s *stack) podDir(uid string) string {
	s.Helper()
	dir := filepath.Join(podsDir, uid)
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	s.made(dir)
	s.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			s.Error(err)
		}
	})
	return dir
}

// made makes a directory.
func (s *stack) made(dir string) {
	s.Helper()
	if err := os.MkdirAll(dir, 0o750); err != nil {
		s.Fatal(err)
	}
}

// target is the directory where a driver publishes a volume for a pod, with
// what the kubelet writes down of it.
func (s *stack) target(uid, pv string) string {
	s.Helper()
	dir := filepath.Join(s.podDir(uid), "volumes/kubernetes.io~csi", pv)
	s.made(filepath.Join(dir, "mount"))
	s.writeJSON(filepath.Join(dir, "vol_data.json"), map[string]string{
		"specVolID": pv, "volumeHandle": handle(pv), "driverName": driver,
		"nodeName": "node", "attachmentID": "csi-1", "volumeLifecycleMode": "Persistent",
	})
	return filepath.Join(dir, "mount")
}

// stage mounts a volume as a driver that stages does, and returns where.
func (s *stack) stage(pv, fsType, device string) string {
	s.Helper()
	dir := filepath.Join(kubeletRoot, "plugins/kubernetes.io/csi", driver, fmt.Sprintf("%x", sha256.Sum256([]byte(handle(pv)))))
	s.made(dir)
	s.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			s.Error(err)
		}
	})
	s.writeJSON(filepath.Join(dir, "vol_data.json"), map[string]string{"driverName": driver, "volumeHandle": handle(pv)})
	s.mountAt(filepath.Join(dir, "globalmount"), fsType, device, "")
	return filepath.Join(dir, "globalmount")
}

// subPath binds a path inside a published volume as the kubelet does for the
// mount of a container with this index.
func (s *stack) subPath(uid, pv, container string, index int, from string) string {
	s.Helper()
	to := filepath.Join(podsDir, uid, "volume-subpaths", pv, container, fmt.Sprint(index))
	info, err := os.Stat(from)
	if err != nil {
		s.Fatal(err)
	}
	s.made(filepath.Dir(to))
	if info.IsDir() {
		s.made(to)
	} else {
		s.write(to, "")
	}
	s.bind(from, to)
	return to
}

// rawBlock publishes a device to a pod as a raw block volume and returns the
// path that the kubelet gives the runtime.
func (s *stack) rawBlock(uid, pv, device string) string {
	s.Helper()
	base := filepath.Join(kubeletRoot, "plugins/kubernetes.io/csi/volumeDevices")
	published := filepath.Join(base, "publish", pv, uid)
	s.made(filepath.Join(base, pv, "data"))
	s.made(filepath.Dir(published))
	s.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			s.Error(err)
		}
	})
	s.writeJSON(filepath.Join(base, pv, "data/vol_data.json"), map[string]string{
		"specVolID": pv, "volumeHandle": handle(pv), "driverName": driver, "volumeLifecycleMode": "Persistent",
	})
	s.write(published, "")
	s.bind(device, published)
	link := filepath.Join(s.podDir(uid), "volumeDevices/kubernetes.io~csi", pv)
	s.made(filepath.Dir(link))
	if err := os.Symlink(published, link); err != nil {
		s.Fatal(err)
	}
	return link
}

func (s *stack) writeJSON(path string, v any) {
	s.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		s.Fatal(err)
	}
	s.write(path, string(data)+"\n")
}

// overlay mounts an overlay whose upper directory is inside a volume.
func (s *stack) overlay(volume string) string {
	s.Helper()
	upper, work := filepath.Join(volume, "rootfs/fs"), filepath.Join(volume, "rootfs/work")
	lower, merged := filepath.Join(s.dir(), "lower"), filepath.Join(s.dir(), "merged")
	for _, dir := range []string{upper, work, lower, merged} {
		s.made(dir)
	}
	options := "lowerdir=" + lower + ",upperdir=" + upper + ",workdir=" + work
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		s.Fatalf("mount overlay: %v", err)
	}
	s.unmountLater(merged)
	return merged
}

// volume is a mount of a container.
func volume(from, to string) *cri.Mount { return &cri.Mount{HostPath: from, ContainerPath: to} }

// volumeMounts has a container see a directory at /data.
func volumeMounts(from string) []*cri.Mount { return []*cri.Mount{volume(from, "/data")} }
