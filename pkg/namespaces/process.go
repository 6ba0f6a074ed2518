package namespaces

import "time"

// Process is one process, or a thread that is in another mount namespace than
// its process.
type Process struct {
	PID     int
	Thread  int       // 0, or the id of the thread, where PID is its process
	Comm    string    // any byte but a newline can be in it
	Started time.Time // zero: not known
	UID     *uint32   // effective, as our user namespace counts; nil: not known
	User    uint64    // inode of its user namespace; 0: not known
	Parent  int
	Owner   Owner
	Kernel  bool // a kernel thread
}

// Owner is whose a process is.
type Owner struct {
	Task        *Task  // of the runtime's containers; nil: none, or not known
	ContainerID string // by the cgroup; "" for none
	PodUID      string // by the cgroup
	Unit        string // of systemd, by the cgroup: "systemd-udevd.service"; "" for none
	Cgroup      string // the path that tells it
	Why         string // why it cannot be told, "" where it can
}
