package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/journal"
)

const containerID = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func testContainer() Container {
	return Container{
		ID: containerID, Name: "app", Image: "registry.example/app:1",
		Pod: facts.Pod{
			Namespace: "prod", Name: "web-0", UID: "11111111-2222-3333-4444-555555555555",
			Labels: map[string]string{"app": "web"},
		},
		Privileged: facts.Is(false, "sysfs is mounted ro"),
	}
}

func testPolicy() Policy {
	return Policy{Name: "/etc/mountward/policy.toml", SHA256: strings.Repeat("3f9c", 16), Mode: "enforce"}
}

func hostMount() *facts.HostMount {
	return &facts.HostMount{
		Canonical: "/var/lib/kubelet", MountPoint: "/", MountID: 42, Root: "/",
		Device: facts.DeviceNumber{Major: 253, Minor: 1}, FSType: "ext4", State: facts.MountState{Peer: 1},
	}
}

func refusedOutcome() facts.Outcome {
	return facts.Outcome{
		Mount: facts.Mount{Destination: "/var/lib/kubelet", Source: "/var/lib/kubelet", Host: hostMount()},
		Asked: facts.Shared, Decided: facts.Shared, Action: facts.ActionDeny, Result: facts.Refused,
		Reason: "use HostToContainer", Rule: "nobody-else-shares", Position: "policy.toml:12",
	}
}

func appliedOutcome() facts.Outcome {
	return facts.Outcome{
		Mount: facts.Mount{Destination: "/var/lib/kubelet", Source: "/var/lib/kubelet", Host: hostMount()},
		Asked: facts.Private, Decided: facts.Slave, Action: facts.ActionSet, Result: facts.Applied,
		Rule: "agents", Position: "policy.toml:20",
	}
}

// listen opens a journal socket of the test's own.
func listen(t *testing.T) (string, *net.UnixConn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "socket")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return path, conn
}

// receive returns the fields of one record, from its datagram or memory file.
func receive(t *testing.T, conn *net.UnixConn) []journal.Field {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	data, control := make([]byte, 1<<18), make([]byte, syscall.CmsgSpace(4))
	n, controlN, _, _, err := conn.ReadMsgUnix(data, control)
	if err != nil {
		t.Fatal(err)
	}
	data = data[:n]
	if controlN > 0 {
		messages, err := syscall.ParseSocketControlMessage(control[:controlN])
		if err != nil {
			t.Fatal(err)
		}
		fds, err := syscall.ParseUnixRights(&messages[0])
		if err != nil {
			t.Fatal(err)
		}
		file := os.NewFile(uintptr(fds[0]), "received")
		defer file.Close()
		if data, err = io.ReadAll(io.NewSectionReader(file, 0, 1<<30)); err != nil {
			t.Fatal(err)
		}
	}
	fields, err := decodeFields(data)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// decodeFields reads the native protocol.
func decodeFields(data []byte) ([]journal.Field, error) {
	var fields []journal.Field
	for len(data) > 0 {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return nil, errors.New("no newline after the last field")
		}
		if name, value, ok := bytes.Cut(line, []byte("=")); ok {
			fields = append(fields, journal.Field{Name: string(name), Value: value})
			data = rest
			continue
		}
		if len(rest) < 8 || uint64(len(rest)-8) <= binary.LittleEndian.Uint64(rest) {
			return nil, errors.New("length leads beyond the record")
		}
		size := binary.LittleEndian.Uint64(rest)
		fields = append(fields, journal.Field{Name: string(line), Value: rest[8 : 8+size]})
		data = rest[8+size+1:]
	}
	return fields, nil
}

// values returns all values of one field, in order.
func values(fields []journal.Field, name string) []string {
	var all []string
	for _, field := range fields {
		if field.Name == name {
			all = append(all, string(field.Value))
		}
	}
	return all
}
