package exposure

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// User is as whom some processes act.
type User struct {
	// UID is the effective user id as our user namespace counts: on the node,
	// the node's, which is the owner of a file.
	UID uint32 `json:"uid"`
	// Inside is the same user as its own user namespace counts; nil where that
	// is not known, or has none for it.
	Inside        *uint32 `json:"uid_inside,omitempty"`
	UserNamespace uint64  `json:"user_namespace,omitempty"` // its inode; 0: not known
	// Capabilities are those of the effective set that matter here: to pass
	// over the modes of files, to mount, to enter other processes. They hold in
	// the user namespace, and for files of users that it maps.
	Capabilities []string `json:"capabilities"`
	Processes    int      `json:"processes"`

	bounding []string // as Capabilities, of the bounding set
}

func (u User) has(capability string) bool { return slices.Contains(u.Capabilities, capability) }

// maxStatus bounds what is read of a file of procfs.
const maxStatus = 64 << 10

// readUsers fills in as whom the processes of w act, and whether they see the
// node's processes.
func (n Node) readUsers(w *Who) {
	if w.Kind == KindHost {
		zero := uint32(0)
		w.Users, w.HostPID = []User{{Inside: &zero, UserNamespace: w.UserNamespace, Capabilities: []string{}}}, facts.Is(true, "it is the node itself")
		return
	}
	if w.Kind == KindHeld {
		return
	}
	read, maps := 0, map[uint64][]idRange{}
	w.HostPID = facts.CannotTell("no process of it could be read")
	for _, p := range w.members[:min(maxPIDs, len(w.members))] {
		u, err := n.userOf(p, maps)
		if gone(err) {
			continue
		}
		if err != nil {
			w.UsersWhy = cmp.Or(w.UsersWhy, err.Error())
			continue
		}
		read++
		w.add(u)
		if w.HostPID.Truth != facts.Yes {
			w.HostPID = n.hostPID(p)
		}
	}
	if read == 0 && w.UsersWhy == "" {
		w.UsersWhy = "its processes have ended"
	}
	if more := len(w.members) - maxPIDs; more > 0 {
		w.UsersWhy = cmp.Or(w.UsersWhy, fmt.Sprintf("%d more processes were not looked at", more))
	}
}

// add counts a process to those that act alike.
func (w *Who) add(u User) {
	for i := range w.Users {
		o := &w.Users[i]
		if o.UID == u.UID && o.UserNamespace == u.UserNamespace && slices.Equal(o.Capabilities, u.Capabilities) && slices.Equal(o.bounding, u.bounding) {
			o.Processes++
			return
		}
	}
	u.Processes = 1
	w.Users = append(w.Users, u)
}

func (n Node) userOf(p namespaces.Process, maps map[uint64][]idRange) (User, error) {
	text, err := n.procFile(p, "status")
	if err != nil {
		return User{}, err
	}
	u, err := parseStatus(text)
	if err != nil {
		return User{}, fmt.Errorf("process %d: %w", id(p), err)
	}
	u.UserNamespace = p.User
	ranges, known := maps[p.User]
	if !known || p.User == 0 {
		text, err := n.procFile(p, "uid_map")
		if err != nil {
			return User{}, err
		}
		if ranges, err = parseIDMap(text); err != nil {
			return User{}, fmt.Errorf("process %d: %w", id(p), err)
		}
		maps[p.User] = ranges
	}
	for _, r := range ranges {
		if u.UID >= r.outside && uint64(u.UID) < uint64(r.outside)+uint64(r.count) {
			inside := r.inside + (u.UID - r.outside)
			u.Inside = &inside
		}
	}
	return u, nil
}

// procFile reads a file of procfs that never waits for the process.
func (n Node) procFile(p namespaces.Process, name string) ([]byte, error) {
	f, err := os.Open(filepath.Join(n.procDir(p), name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxStatus))
}

func (n Node) procDir(p namespaces.Process) string {
	dir := filepath.Join(n.Proc, strconv.Itoa(p.PID))
	if p.Thread != 0 {
		dir = filepath.Join(dir, "task", strconv.Itoa(p.Thread))
	}
	return dir
}

// gone reports whether an error says that the process has ended.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// hostPID answers whether a process is in the pid namespace of process 1.
func (n Node) hostPID(p namespaces.Process) facts.Answer {
	theirs, err := os.Readlink(filepath.Join(n.procDir(p), "ns", "pid"))
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	ours, err := os.Readlink(filepath.Join(n.Proc, "1", "ns", "pid"))
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	return facts.Is(theirs == ours, fmt.Sprintf("it is in %s, process 1 in %s", theirs, ours))
}
