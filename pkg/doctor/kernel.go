package doctor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// checkKernel says what this kernel offers. Releases are those of mainline; a
// distribution can have taken a feature into an older one, so that what was
// really used is said beside.
func checkKernel(s *Snapshot) []Finding {
	all := []Finding{s.kernel()}
	if f, ok := s.mayDetach(); ok {
		all = append(all, f)
	}
	if f, ok := s.hidepid(); ok {
		all = append(all, f)
	}
	return all
}

func (s *Snapshot) kernel() Finding {
	file := path.Join(s.Proc, "sys/kernel/osrelease")
	f := Finding{Code: codeKernel, Subject: "kernel"}
	text, err := small(file)
	if err != nil {
		f.Message = "cannot tell which kernel this is: " + err.Error()
		return f
	}
	major, minor, ok := kernelRelease(text)
	f.Evidence = []Evidence{{Text: file + ": " + text, Show: "uname -r"}}
	if !ok {
		f.Message = fmt.Sprintf("cannot tell which kernel %q is", text)
		return f
	}
	at := func(a, b int) bool { return major > a || major == a && minor >= b }
	if !at(5, 8) {
		f.Answer = facts.No
		f.Message = "the kernel " + text + " is too old for mountward: 5.8 is the first that tells a mount by its id"
		f.Effect = "doctor reads mount tables all the same; as a plugin mountward cannot follow mounts surely"
		f.Fixes = []Fix{{What: "update the kernel", Persistent: true}}
		return f
	}
	f.Answer = facts.Yes
	var has, lacks []string
	for _, feature := range []struct {
		major, minor int
		name         string
	}{
		{5, 12, "mount_setattr (lowering a mount in place)"},
		{5, 15, "MOVE_MOUNT_SET_GROUP (raising a mount in place)"},
		{6, 8, "statmount (one mount read without the table)"},
		{6, 12, "NS_MNT_GET_NEXT (every mount namespace listed by the kernel)"},
	} {
		if at(feature.major, feature.minor) {
			has = append(has, feature.name)
		} else {
			lacks = append(lacks, fmt.Sprintf("%s, %d.%d", feature.name, feature.major, feature.minor))
		}
	}
	f.Message = "the kernel is " + text
	if len(has) > 0 {
		f.Message += "; by its release it has " + strings.Join(has, ", ")
	}
	if len(lacks) > 0 {
		f.Message += "; it comes before " + strings.Join(lacks, "; ")
	}
	f.Message += s.rungs()
	return f
}

// rungs says which interfaces were used here.
func (s *Snapshot) rungs() string {
	var used []string
	if r, ok := s.Files.(interface{ Rung() string }); ok {
		used = append(used, "host paths by "+r.Rung())
	}
	if s.Census != nil && s.Census.Rung != "" {
		used = append(used, "namespaces by "+s.Census.Rung)
	}
	if len(used) == 0 {
		return ""
	}
	return "; used here: " + strings.Join(used, ", ")
}

// kernelRelease reads "6.12.63+deb13-amd64".
func kernelRelease(text string) (major, minor int, ok bool) {
	head, rest, ok := strings.Cut(text, ".")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	major, err := strconv.Atoi(head)
	minor, err2 := strconv.Atoi(digits)
	return major, minor, ok && err == nil && err2 == nil && major > 0
}

// mayDetach looks for the switch that the kernels of RHEL 7 have: off, a mount
// point that another mount namespace has a mount on cannot be removed. Mainline
// always lets it.
func (s *Snapshot) mayDetach() (Finding, bool) {
	const name = "fs.may_detach_mounts"
	text, err := small(path.Join(s.Proc, "sys/fs/may_detach_mounts"))
	f := Finding{Code: codeMayDetach, Subject: name, Evidence: []Evidence{{Text: name + " = " + text, Show: "sysctl " + name}}}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, false
	case err != nil:
		f.Evidence = nil
		f.Message = "cannot tell whether " + name + " is on: " + err.Error()
	case text == "0":
		f.Answer = facts.No
		f.Message = name + " is 0: a directory that any other mount namespace has mounted something on cannot be removed"
		f.Cause = "the kernel of RHEL 7 has it off, and containerd does not set it as docker does"
		f.Effect = "pods stay in Terminating: \"device or resource busy\" when their directories are removed"
		f.Fixes = []Fix{{
			What: "switch it on; it helps at once", File: "/etc/sysctl.d/50-may-detach-mounts.conf", Content: name + " = 1\n",
			Commands: []string{"sysctl -w " + name + "=1"}, Persistent: true,
		}}
	default:
		f.Answer, f.Message = facts.Yes, name+" is on"
	}
	return f, true
}

// hidepid looks for a /proc that hides the processes of others from who may not
// trace them.
func (s *Snapshot) hidepid() (Finding, bool) {
	f := Finding{Code: codeHiddenProcs, Subject: "/proc"}
	option := ""
	if p, ok := s.Place(RoleInit); ok && p.Table != nil {
		if e, ok := p.Table.At("/proc"); ok && e.FSType == "proc" {
			for _, o := range strings.Split(e.SuperOptions, ",") {
				if v, ok := strings.CutPrefix(o, "hidepid="); ok && v != "0" && v != "off" {
					option = o
				}
			}
			f.Evidence = []Evidence{{Text: e.Line(), Show: "grep ' /proc ' /proc/1/mountinfo"}}
		}
	}
	if option == "" {
		return f, false
	}
	f.Cause = "/proc is mounted with " + option
	f.Fixes = []Fix{{What: "let the group of those who must see them in: mount /proc with gid=, or without hidepid="}}
	_, err := os.Stat(path.Join(s.Proc, "1/mountinfo"))
	_, blind := small(path.Join(s.Proc, "1/comm"))
	daemons, _ := s.daemons()
	switch {
	case err != nil || blind != nil:
		f.Message = "processes of others are hidden (" + option + "): what they hold and see cannot be told"
	case len(daemons) > 0 && daemons[0].how == byService:
		f.Answer = facts.No
		f.Message = "processes are hidden (" + option + ") from mountward, which runs as a service without capabilities"
		f.Effect = "it cannot read the mount tables of containers: proof and map are \"cannot tell\""
		f.Fixes = append(f.Fixes, Fix{
			What: "let the service see them", File: "/etc/systemd/system/mountward.service.d/50-hidepid.conf",
			Content:  "[Service]\nCapabilityBoundingSet=CAP_SYS_PTRACE\nAmbientCapabilities=CAP_SYS_PTRACE\n",
			Commands: []string{"systemctl daemon-reload", "systemctl restart mountward"}, Persistent: true,
		})
	default:
		f.Answer = facts.Yes
		f.Message = "processes are hidden from users without privilege (" + option + "), not from this one"
	}
	return f, true
}

// small reads a file of procfs that is one short line.
func small(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	return strings.TrimSpace(string(text)), err
}
