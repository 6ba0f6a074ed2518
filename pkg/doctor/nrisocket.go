package doctor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// maxSockets is how much of /proc/net/unix is read, in bytes.
const maxSockets = 32 << 20

// nriSocket is what the kernel knows of NRI's socket.
type nriSocket struct {
	listens   facts.Answer
	connected int // plugins that have connected to it: those that containerd launches have not
	show      string
}

// socket looks at the socket that plugins connect to.
func (r *containerd) socket() (nriSocket, []Finding) {
	n := r.config.NRI
	file := n.SocketPath.Value
	s := r.listening(file)
	if n.DisableConnections.Value {
		return s, []Finding{{
			Code: codeSocket, Answer: facts.Yes, Subject: file, Evidence: evidenceOf(n.DisableConnections.At),
			Message: "NRI takes no connections: only plugins that containerd launches can run",
		}}
	}
	var all []Finding
	if f, ok := r.listener(s, file); ok {
		all = append(all, f)
	}
	if info, err := r.stat(file); err == nil {
		if why := others(info); why != "" {
			all = append(all, Finding{
				Code: codeSocketWritable, Answer: facts.No, Subject: file,
				Message:  "others than root can connect to NRI: " + file + ": " + why,
				Evidence: []Evidence{{Text: file + ": " + info.Mode().String() + owner(info), Show: "ls -l " + shell.Quote(file)}},
				Effect:   "who connects can change every container that is created, and register as mountward",
				Fixes:    []Fix{{What: "give it to root alone; containerd makes it anew at each start", Commands: []string{"chown root:root " + shell.Quote(file), "chmod 0600 " + shell.Quote(file)}}},
			})
		}
	}
	return s, all
}

// listener judges whether NRI can be reached, where anything needs that.
func (r *containerd) listener(s nriSocket, file string) (Finding, bool) {
	f := Finding{Code: codeSocket, Answer: s.listens.Truth, Subject: file}
	f.Evidence = append([]Evidence{{Text: s.listens.Why, Show: s.show}}, r.evidence(r.config.NRI.SocketPath.At, "socket_path")...)
	switch {
	case s.listens.Truth == facts.Yes:
		f.Message = fmt.Sprintf("NRI listens on %s, with %d plugins connected", file, s.connected)
		return f, true
	case r.needs == "":
		return f, false
	case s.listens.Truth == facts.Unknown || r.Runtime.PID == 0:
		f.Answer = facts.Unknown
		f.Message = "cannot tell whether NRI listens, which mountward needs (" + r.needs + "): " + s.listens.Why
		return f, true
	}
	f.Message = "NRI does not listen, and mountward needs it (" + r.needs + "): " + s.listens.Why
	f.Cause = "containerd was not restarted since NRI was switched on, or its socket was removed"
	f.Effect = "mountward cannot connect: mounts stay as they were asked for"
	f.Fixes = []Fix{r.restarting(Fix{What: "restart containerd (containers go on running)"})}
	return f, true
}

// listening reads the kernel's list of sockets. A path in it is what its owner
// wrote, and a process of the host's network namespace can have written a
// newline: the list alone proves nothing, so the file has to be there too.
func (r *containerd) listening(file string) nriSocket {
	pid := max(1, r.Runtime.PID)
	list := fmt.Sprintf("%s/%d/net/unix", r.Proc, pid)
	s := nriSocket{show: fmt.Sprintf("grep %s /proc/%d/net/unix", shell.Quote(file), pid)}
	if _, err := r.files.Canonical(r.Context, file); err != nil {
		s.listens = facts.CannotTell(err.Error())
		if errors.Is(err, fs.ErrNotExist) {
			s.listens = facts.Is(false, file+" does not exist")
		}
		return s
	}
	f, err := os.Open(list)
	if err != nil {
		s.listens = facts.CannotTell(err.Error())
		return s
	}
	defer f.Close()
	s.read(f, file)
	return s
}

// read reads lines such as
//
//	0000000000000000: 00000002 00000000 00010000 0001 01 23456 /var/run/nri/nri.sock
//
// with the flags in the fourth field (0x10000: listening) and the state in the
// sixth (3: connected). An accepted connection has the listener's path.
func (s *nriSocket) read(list io.Reader, file string) {
	limited := &io.LimitedReader{R: list, N: maxSockets}
	lines := bufio.NewScanner(limited)
	for lines.Scan() {
		fields, path := socketFields(lines.Text())
		if path != file {
			continue
		}
		flags, err := strconv.ParseUint(fields[3], 16, 32)
		switch {
		case err != nil:
		case flags&0x10000 != 0:
			s.listens = facts.Is(true, lines.Text())
		case fields[5] == "03":
			s.connected++
		}
	}
	switch {
	case s.listens.Truth == facts.Yes:
	case lines.Err() != nil:
		s.listens = facts.CannotTell(lines.Err().Error())
	case limited.N == 0:
		s.listens = facts.CannotTell("the list of sockets is too long")
	default:
		s.listens = facts.Is(false, "no process listens on "+file)
	}
}

// socketFields takes a line apart; a path is the rest of it.
func socketFields(line string) (fields [7]string, path string) {
	for i := range fields {
		var ok bool
		if fields[i], line, ok = strings.Cut(strings.TrimLeft(line, " "), " "); !ok {
			return fields, ""
		}
	}
	return fields, line
}
