package linux

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSealedMemfdHoldsDataThatNobodyCanChange(t *testing.T) {
	t.Parallel()
	want := bytes.Repeat([]byte("a\x00\xff\n"), 100_000)
	file, err := SealedMemfd("mountward-test", want)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()

	got, err := io.ReadAll(io.NewSectionReader(file, 0, int64(len(want))+1))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("read back %d bytes, %v; want the %d written", len(got), err, len(want))
	}
	if _, err := file.WriteAt([]byte("x"), 0); !errors.Is(err, unix.EPERM) {
		t.Errorf("write after sealing: %v, want EPERM", err)
	}
	if err := file.Truncate(1); !errors.Is(err, unix.EPERM) {
		t.Errorf("shrink after sealing: %v, want EPERM", err)
	}
	if err := file.Truncate(int64(len(want)) + 1); !errors.Is(err, unix.EPERM) {
		t.Errorf("grow after sealing: %v, want EPERM", err)
	}
	seals, err := unix.FcntlInt(file.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || seals&sealedForGood != sealedForGood {
		t.Errorf("seals %#x, %v; want all of %#x", seals, err, sealedForGood)
	}
}
