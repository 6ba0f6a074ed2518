package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// A frame: magic, mark, length of the record (u32, little endian), checksum of
// the record, checksum of the header without the mark, record.
const (
	magic      = "MWS1"
	markWaits  = "wait"
	markTaken  = "sent"
	markAt     = 4
	lengthAt   = 8
	sumAt      = 12
	headSumAt  = 16
	headerSize = 20
)

// errDamaged is what cannot be a frame that was written.
var errDamaged = errors.New("damaged frame")

// header is what a frame says of itself.
type header struct {
	taken bool
	size  int64 // of the record
	sum   uint32
}

// appendFrame appends a frame that waits.
func appendFrame(out, record []byte) []byte {
	start := len(out)
	out = append(append(out, magic...), markWaits...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(record)))
	out = binary.LittleEndian.AppendUint32(out, checksum(record))
	out = binary.LittleEndian.AppendUint32(out, headChecksum(out[start:]))
	return append(out, record...)
}

// readHeader reads the header at offset of a segment of size bytes. The record
// it tells of lies within the segment.
func readHeader(r io.ReaderAt, offset, size int64) (header, error) {
	if size-offset < headerSize {
		return header{}, errDamaged
	}
	var head [headerSize]byte
	if _, err := r.ReadAt(head[:], offset); err != nil {
		return header{}, errors.Join(errDamaged, err)
	}
	h := header{
		// What is neither mark is handed out: better twice than not at all.
		taken: string(head[markAt:lengthAt]) == markTaken,
		size:  int64(binary.LittleEndian.Uint32(head[lengthAt:])),
		sum:   binary.LittleEndian.Uint32(head[sumAt:]),
	}
	sound := string(head[:markAt]) == magic && binary.LittleEndian.Uint32(head[headSumAt:]) == headChecksum(head[:headSumAt])
	if !sound || h.size > size-offset-headerSize {
		return header{}, errDamaged
	}
	return h, nil
}

// readRecord reads the record of the frame at offset.
func (h header) readRecord(r io.ReaderAt, offset int64) ([]byte, error) {
	record := make([]byte, h.size)
	if _, err := r.ReadAt(record, offset+headerSize); err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	if checksum(record) != h.sum {
		return nil, errDamaged
	}
	return record, nil
}

// end is where the frame ends that begins at offset.
func (h header) end(offset int64) int64 { return offset + headerSize + h.size }

func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// headChecksum is of a header without its mark, which changes.
func headChecksum(head []byte) uint32 {
	return crc32.Update(checksum(head[:markAt]), crc32.MakeTable(crc32.Castagnoli), head[lengthAt:headSumAt])
}
