package facts

// Truth is the value of an Answer.
type Truth uint8

// The three answers. The zero value is Unknown: what nobody found out is not
// thereby false.
const (
	Unknown Truth = iota
	Yes
	No
)

// String returns "yes", "no" or "unknown".
func (t Truth) String() string {
	switch t {
	case Yes:
		return "yes"
	case No:
		return "no"
	default:
		return "unknown"
	}
}

// MarshalText makes the three answers readable in records.
func (t Truth) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is Unknown.
func (t *Truth) UnmarshalText(text []byte) error {
	switch string(text) {
	case "yes":
		*t = Yes
	case "no":
		*t = No
	default:
		*t = Unknown
	}
	return nil
}

// Answer is a fact with its evidence: for Yes and No what showed it, for
// Unknown why it could not be told.
type Answer struct {
	Truth Truth  `json:"answer"`
	Why   string `json:"why,omitempty"`
}

// Is returns the answer Yes or No for ok, with why as its evidence.
func Is(ok bool, why string) Answer {
	if ok {
		return Answer{Yes, why}
	}
	return Answer{No, why}
}

// CannotTell returns the answer Unknown with its reason.
func CannotTell(why string) Answer { return Answer{Unknown, why} }
