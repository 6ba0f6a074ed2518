//go:build linux

package adapt

import (
	"fmt"
	"slices"

	rspec "github.com/opencontainers/runtime-spec/specs-go"
)

func (u *underlying) linux() *rspec.Linux                  { return made(&u.spec.Linux) }
func (u *underlying) resources() *rspec.LinuxResources     { return made(&u.linux().Resources) }
func (u *underlying) cpu() *rspec.LinuxCPU                 { return made(&u.resources().CPU) }
func (u *underlying) memory() *rspec.LinuxMemory           { return made(&u.resources().Memory) }
func (u *underlying) SetLinuxCgroupsPath(path string)      { u.linux().CgroupsPath = path }
func (u *underlying) SetLinuxResourcesCPUShares(v uint64)  { u.cpu().Shares = &v }
func (u *underlying) SetLinuxResourcesCPUQuota(v int64)    { u.cpu().Quota = &v }
func (u *underlying) SetLinuxResourcesCPUPeriod(v uint64)  { u.cpu().Period = &v }
func (u *underlying) SetLinuxResourcesCPUCpus(v string)    { u.cpu().Cpus = v }
func (u *underlying) SetLinuxResourcesCPUMems(v string)    { u.cpu().Mems = v }
func (u *underlying) SetLinuxResourcesMemoryLimit(v int64) { u.memory().Limit = &v }
func (u *underlying) SetLinuxResourcesMemorySwap(v int64)  { u.memory().Swap = &v }
func (u *underlying) AddLinuxSysctl(key, value string)     { put(&u.linux().Sysctl, key, value) }
func (u *underlying) RemoveLinuxSysctl(key string)         { delete(u.linux().Sysctl, key) }
func (u *underlying) AddLinuxResourcesUnified(k, v string) { put(&u.resources().Unified, k, v) }
func (u *underlying) SetLinuxResourcesCPURealtimeRuntime(v int64) {
	u.cpu().RealtimeRuntime = &v
}

func (u *underlying) SetLinuxResourcesCPURealtimePeriod(v uint64) {
	u.cpu().RealtimePeriod = &v
}

func (u *underlying) SetLinuxRootPropagation(p string) error {
	known := []string{"", "private", "rprivate", "slave", "rslave", "shared", "rshared", "unbindable", "runbindable"}
	if !slices.Contains(known, p) {
		return fmt.Errorf("set root propagation %q: not a propagation", p)
	}
	u.linux().RootfsPropagation = p
	return nil
}

func (u *underlying) AddDevice(d rspec.LinuxDevice) {
	u.RemoveDevice(d.Path)
	u.spec.Linux.Devices = append(u.spec.Linux.Devices, d)
}

func (u *underlying) RemoveDevice(path string) {
	l := u.linux()
	l.Devices = deleteFirst(l.Devices, func(d rspec.LinuxDevice) bool { return d.Path == path })
}

func (u *underlying) AddLinuxResourcesDevice(allow bool, kind string, major, minor *int64, access string) {
	r := u.resources()
	r.Devices = append(r.Devices, rspec.LinuxDeviceCgroup{Allow: allow, Type: kind, Major: major, Minor: minor, Access: access})
}

func (u *underlying) AddLinuxResourcesHugepageLimit(size string, limit uint64) {
	r := u.resources()
	r.HugepageLimits = deleteFirst(r.HugepageLimits, func(l rspec.LinuxHugepageLimit) bool { return l.Pagesize == size })
	r.HugepageLimits = append(r.HugepageLimits, rspec.LinuxHugepageLimit{Pagesize: size, Limit: limit})
}

func (u *underlying) AddOrReplaceLinuxNamespace(name, path string) error {
	if err := u.RemoveLinuxNamespace(name); err != nil {
		return err
	}
	kind, _ := namespaceType(name)
	u.spec.Linux.Namespaces = append(u.spec.Linux.Namespaces, rspec.LinuxNamespace{Type: kind, Path: path})
	return nil
}

func (u *underlying) RemoveLinuxNamespace(name string) error {
	kind, ok := namespaceType(name)
	if !ok {
		return fmt.Errorf("change namespace %q: no such kind", name)
	}
	l := u.linux()
	l.Namespaces = deleteFirst(l.Namespaces, func(n rspec.LinuxNamespace) bool { return n.Type == kind })
	return nil
}

func namespaceType(name string) (rspec.LinuxNamespaceType, bool) {
	kind := rspec.LinuxNamespaceType(name)
	return kind, slices.Contains([]rspec.LinuxNamespaceType{
		rspec.NetworkNamespace, rspec.PIDNamespace, rspec.MountNamespace, rspec.IPCNamespace,
		rspec.UTSNamespace, rspec.UserNamespace, rspec.CgroupNamespace, rspec.TimeNamespace,
	}, kind)
}
