package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The schemas of the messages. Another number is another, incompatible form.
const (
	RequestSchema  = "mountward.request/v1"
	ResponseSchema = "mountward.response/v1"
)

// Verb is what is asked of the daemon.
type Verb string

// The verbs.
const (
	VerbStatus    Verb = "status"
	VerbEmergency Verb = "emergency"
	VerbReload    Verb = "reload"
)

// The bounds of an emergency. A day is enough to mend a node, and a forgotten
// one ends.
const (
	MinEmergency = time.Second
	MaxEmergency = 24 * time.Hour
)

// Request is one request.
type Request struct {
	Schema string `json:"schema"`
	Verb   Verb   `json:"verb"`
	// For is how long an emergency lasts from now, as time.ParseDuration reads
	// it; End ends the one that is.
	For string `json:"for,omitempty"`
	End bool   `json:"end,omitempty"`
}

// Response is the answer to a request.
type Response struct {
	Schema  string `json:"schema"`
	Version string `json:"version"` // of the daemon
	// Error is why the request failed, one line for a person; "" where it did
	// not. Busy says that asking again can help.
	Error string `json:"error,omitempty"`
	Busy  bool   `json:"busy,omitempty"`
	// Warning is what a person should know though the request did not fail.
	Warning string  `json:"warning,omitempty"`
	Status  *Status `json:"status,omitempty"`
	// Policy answers a reload: what is in force after it, and why not what is
	// configured.
	Policy *Policy `json:"policy,omitempty"`
}

// parseRequest reads a request as strictly as it can: what is not understood is
// refused, and the error says which versions there are.
func parseRequest(line []byte) (Request, error) {
	var r Request
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		// A newer form is likelier than garbage, and has its schema to say so.
		var named struct {
			Schema string `json:"schema"`
		}
		if json.Unmarshal(line, &named) == nil && named.Schema != RequestSchema {
			return r, otherSchema(named.Schema)
		}
		return r, fmt.Errorf("read request: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("read request: more than one object")
	}
	switch {
	case r.Schema != RequestSchema:
		return r, otherSchema(r.Schema)
	case (r.Verb == VerbStatus || r.Verb == VerbReload) && r.For == "" && !r.End:
		return r, nil
	case r.Verb == VerbEmergency:
		_, err := r.Duration()
		return r, err
	case r.Verb == VerbStatus || r.Verb == VerbReload:
		return r, fmt.Errorf("read request: %s takes no duration", r.Verb)
	default:
		return r, fmt.Errorf("this daemon does not know the request %.40q: use the command line of its version", string(r.Verb))
	}
}

func otherSchema(schema string) error {
	return fmt.Errorf("this daemon speaks %s and was asked in %.60q: use the command line of its version", RequestSchema, schema)
}

// Duration returns how long the emergency lasts, 0 where it is to end.
func (r Request) Duration() (time.Duration, error) {
	if r.End {
		if r.For != "" {
			return 0, errors.New("an emergency begins or ends, not both")
		}
		return 0, nil
	}
	d, err := time.ParseDuration(r.For)
	if err != nil {
		return 0, fmt.Errorf("duration of an emergency: %.40q: want one such as 30m", r.For)
	}
	return d, CheckEmergency(d)
}

// CheckEmergency refuses a duration that no emergency has.
func CheckEmergency(d time.Duration) error {
	if d < MinEmergency || d > MaxEmergency {
		return fmt.Errorf("duration of an emergency: %s: want %s to %s", d, MinEmergency, MaxEmergency)
	}
	return nil
}
