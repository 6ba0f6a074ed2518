package facts

// Word is a fact that is a text, with three answers: a text, none (known, and
// ""), and not known. The zero value is not known: what nobody found out is not
// thereby empty.
type Word struct {
	Known bool   `json:"known"`
	Text  string `json:"text,omitempty"`
	Why   string `json:"why,omitempty"` // of one that is not known: why not
}

// Says returns the word that is known to be the text, "" for none.
func Says(text string) Word { return Word{Known: true, Text: text} }

// Untold returns the word that is not known, with its reason.
func Untold(why string) Word { return Word{Why: why} }
