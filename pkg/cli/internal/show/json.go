package show

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/mountward/mountward/pkg/audit"
)

// JSON writes a value as the records in the journal are written, indented: text
// that is not UTF-8 is kept, see [audit.Marshal].
func JSON(w io.Writer, v any) error {
	text, err := audit.Marshal(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = out.WriteTo(w)
	return err
}
