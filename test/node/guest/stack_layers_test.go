//go:build linux

package guest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// luks formats a device and opens it.
func (s *stack) luks(name, device string) string {
	s.Helper()
	key := filepath.Join(s.TempDir(), "key")
	s.write(key, "a key for a test")
	s.do("cryptsetup", "luksFormat", "--batch-mode", "--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", device, key)
	s.do("cryptsetup", "open", "--key-file", key, device, name)
	s.undo("cryptsetup", "close", name)
	return "/dev/mapper/" + name
}

// partition makes a loop device with one partition.
func (s *stack) partition(label string, mebibytes int64) string {
	s.Helper()
	file := s.file(s.dir(), mebibytes)
	s.do("sh", "-c", `echo start=2048 | sfdisk --quiet "$1"`, "sh", file)
	device := s.loop(label, 0, "--partscan", file)
	s.labels[filepath.Base(device)+"p1"] = label + "p1"
	return device + "p1"
}

// multipath makes a disk with two paths, and the device over both. multipathd
// would make it the same.
func (s *stack) multipath(name string) string {
	s.Helper()
	s.do("modprobe", "scsi_debug", "dev_size_mb=64", "add_host=2", "vpd_use_hostno=0")
	s.undo("modprobe", "--remove", "scsi_debug")
	pattern := "/sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*"
	paths := await(s.T, "two paths", func() ([]string, error) {
		found, err := filepath.Glob(pattern)
		if err == nil && len(found) != 2 {
			err = errNotYet
		}
		return found, err
	})
	s.do("udevadm", "settle")
	slices.Sort(paths)
	for i, path := range paths {
		paths[i] = filepath.Base(path)
		s.labels[paths[i]] = []string{"path1", "path2"}[i]
	}
	s.do("dmsetup", "create", name, "--uuid", "mpath-360000000000000001", "--table",
		"0 131072 multipath 0 0 1 1 service-time 0 2 1 /dev/"+paths[0]+" 1 /dev/"+paths[1]+" 1")
	s.undo("dmsetup", "remove", "--retry", name)
	return "/dev/mapper/" + name
}

// md makes a mirror.
func (s *stack) md(label string, devices ...string) string {
	s.Helper()
	const array = "/dev/md/node"
	s.do("mdadm", append([]string{"--create", array, "--quiet", "--run", "--level=1", "--metadata=1.2", "--raid-devices=2"}, devices...)...)
	device := array
	s.Cleanup(func() {
		s.do("mdadm", "--stop", "--quiet", array)
		s.stopped(device)
	})
	var err error
	if device, err = filepath.EvalSymlinks(array); err != nil {
		s.Fatal(err)
	}
	s.labels[filepath.Base(device)] = label
	return device
}

// stopped sees an array off that was told to stop. Whoever opens its node a moment later,
// as udev does on old kernels, makes an empty one of that number.
func (s *stack) stopped(device string) {
	s.Helper()
	s.do("udevadm", "settle")
	await(s.T, device+" to be gone", func() (any, error) {
		_, err := os.Stat("/sys/block/" + filepath.Base(device))
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		_, _ = run("mdadm", "--stop", "--quiet", device) // it is looked for again
		return nil, errNotYet
	})
}

// bcache makes a slow device with a fast one before it.
func (s *stack) bcache(slow, fast string) string {
	s.Helper()
	s.do("modprobe", "bcache")
	s.do("make-bcache", "--bdev", slow, "--cset-uuid", cacheSet, "--bucket", "64k", "--cache", fast)
	s.do("udevadm", "settle")
	for _, device := range []string{slow, fast} {
		// udev may have done so already, in which case it is refused.
		_, _ = run("sh", "-c", `echo "$1" >/sys/fs/bcache/register`, "sh", device)
	}
	await(s.T, "a bcache with both devices", func() (any, error) {
		found, err := filepath.Glob("/sys/block/bcache0/slaves/*")
		if err == nil && len(found) != 2 {
			err = errNotYet
		}
		return nil, err
	})
	s.Cleanup(func() {
		s.write("/sys/block/bcache0/bcache/stop", "1")
		s.write("/sys/fs/bcache/"+cacheSet+"/stop", "1")
		s.gone("/sys/block/bcache0")
		s.gone("/sys/fs/bcache/" + cacheSet)
	})
	return "/dev/bcache0"
}

const cacheSet = "6b1e7f2c-0000-4000-8000-000000000001"
