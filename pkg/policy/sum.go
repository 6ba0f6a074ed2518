package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
)

// DropInDir is the directory of drop-ins, beside the main file.
const DropInDir = "policy.d"

// Sum returns the checksum of a policy's files in hexadecimal. Without drop-ins
// it is that of the main file's bytes. With drop-ins it is that of what
// sha256sum prints for all of them, from the directory of the main file:
//
//	LC_ALL=C; sha256sum policy.toml policy.d/*.toml | sha256sum
//
// So the same files have the same checksum wherever they are mounted.
func Sum(main File, dropIns ...File) string {
	if len(dropIns) == 0 {
		return sum(main.Data)
	}
	var list strings.Builder
	add := func(name string, data []byte) { list.WriteString(sum(data) + "  " + name + "\n") }
	add(path.Base(main.Name), main.Data)
	for _, f := range dropIns {
		add(DropInDir+"/"+path.Base(f.Name), f.Data)
	}
	return sum([]byte(list.String()))
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}
