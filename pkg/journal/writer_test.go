package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/journal"
)

func TestSendDeliversExactFieldsInOrder(t *testing.T) {
	t.Parallel()
	path, conn := listen(t, "")
	want := []journal.Field{
		journal.String("MESSAGE", "a path\nMESSAGE_ID=ffffffffffffffffffffffffffffffff\n"),
		journal.String("A", "=\xff"),
		journal.String("A", ""),
		journal.String("B", "\n"),
	}
	if err := newWriter(t, path, 0).Send(want); err != nil {
		t.Fatal(err)
	}
	data, file := receive(t, conn)
	if file != nil {
		t.Error("a small record came as a file")
	}
	got, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestSendPassesLargeRecordsInASealedFile(t *testing.T) {
	t.Parallel()
	path, conn := listen(t, "")
	want := []journal.Field{
		journal.String("MESSAGE", "large"),
		{Name: "A", Value: bytes.Repeat([]byte("\xff\n=x"), 1<<20)},
	}
	if err := newWriter(t, path, 0).Send(want); err != nil {
		t.Fatal(err)
	}
	data, file := receive(t, conn)
	if len(data) != 0 || file == nil {
		t.Fatalf("got %d bytes and file %v, want no bytes and a file", len(data), file)
	}
	record, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(record)
	if err != nil {
		t.Fatal(err)
	}
	// Not cmp: it goes through four million bytes one by one.
	if len(got) != 2 || got[1].Name != "A" || !bytes.Equal(got[1].Value, want[1].Value) {
		t.Error("the record in the file differs from the one sent")
	}
	if _, err := file.WriteAt([]byte("x"), 0); !errors.Is(err, syscall.EPERM) {
		t.Errorf("write to the file received: %v, want EPERM", err)
	}
}

func TestSendNeedsNoReconnectWhenTheSocketComesBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "socket")
	writer := newWriter(t, path, 0)
	record := []journal.Field{journal.String("A", "x")}
	if err := writer.Send(record); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("Send with no socket: %v, want ENOENT", err)
	}
	for round := range 2 {
		_, conn := listen(t, path)
		if err := writer.Send(record); err != nil {
			t.Errorf("Send in round %d: %v", round, err)
		}
		if data, _ := receive(t, conn); string(data) != "A=x\n" {
			t.Errorf("received %q in round %d", data, round)
		}
		conn.Close()
		if err := writer.Send(record); !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("Send with nobody listening: %v, want ENOENT or ECONNREFUSED", err)
		}
		os.Remove(path)
	}
}

func TestSendGivesUpOnAFullSocketAndGoesOnWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	path, conn := listen(t, "")
	writer := newWriter(t, path, 20*time.Millisecond)
	sent := 0
	var err error
	for ; sent < 100_000; sent++ {
		if err = writer.Send([]journal.Field{journal.String("N", fmt.Sprint(sent))}); err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.EAGAIN) {
		t.Fatalf("Send number %d: %v, want EAGAIN from a socket nobody reads", sent, err)
	}
	for n := range sent {
		if data, _ := receive(t, conn); string(data) != fmt.Sprintf("N=%d\n", n) {
			t.Fatalf("record %d is %q", n, data)
		}
	}
	if err := writer.Send([]journal.Field{journal.String("N", "last")}); err != nil {
		t.Errorf("Send with room again: %v", err)
	}
}

func TestSendNeverSendsAPartOfABadRecord(t *testing.T) {
	t.Parallel()
	path, conn := listen(t, "")
	writer := newWriter(t, path, 0)
	if err := writer.Send([]journal.Field{journal.String("A", "x"), journal.String("_B", "y")}); err == nil {
		t.Error("Send with a protected name: no error")
	}
	if err := writer.Send([]journal.Field{journal.String("C", "z")}); err != nil {
		t.Fatal(err)
	}
	if data, _ := receive(t, conn); string(data) != "C=z\n" {
		t.Errorf("first record received is %q, want only the good one", data)
	}
}

func TestSendIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	path, conn := listen(t, "")
	writer := newWriter(t, path, time.Minute)
	const senders, each = 8, 50
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for range each {
				if err := writer.Send([]journal.Field{journal.String("A", "x\ny")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range senders * each {
		data, _ := receive(t, conn)
		if fields, err := decode(data); err != nil || len(fields) != 1 {
			t.Errorf("record %q: %v", data, err)
		}
	}
	group.Wait()
}

func TestSendAfterCloseFails(t *testing.T) {
	t.Parallel()
	path, _ := listen(t, "")
	writer, err := journal.NewWriter(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := writer.Send([]journal.Field{journal.String("A", "x")}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Send after Close: %v, want os.ErrClosed", err)
	}
}

func newWriter(t *testing.T, path string, timeout time.Duration) *journal.Writer {
	t.Helper()
	writer, err := journal.NewWriter(path, timeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writer.Close() })
	return writer
}

// listen opens a datagram socket at path, or at a path of the test's own.
func listen(t *testing.T, path string) (string, *net.UnixConn) {
	t.Helper()
	if path == "" {
		path = filepath.Join(t.TempDir(), "socket")
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return path, conn
}

// receive returns one datagram and the file that came with it, if any.
func receive(t *testing.T, conn *net.UnixConn) ([]byte, *os.File) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	data, control := make([]byte, 1<<18), make([]byte, syscall.CmsgSpace(4))
	n, controlN, _, _, err := conn.ReadMsgUnix(data, control)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := syscall.ParseSocketControlMessage(control[:controlN])
	if err != nil || len(messages) == 0 {
		return data[:n], nil
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		t.Fatalf("rights %v, %v; want one file", fds, err)
	}
	file := os.NewFile(uintptr(fds[0]), "received")
	t.Cleanup(func() { file.Close() })
	return data[:n], file
}
