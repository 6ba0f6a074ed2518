package doctor

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// MaxBaseline bounds a baseline, in bytes. A report of a sick node has some
// hundred kilobytes.
const MaxBaseline = 16 << 20

// Baseline is what an earlier report knew.
type Baseline struct {
	known      map[key]known
	unknown    map[string]bool // by what could not be read, uncounted
	sizes      []Size
	containers int
}

// key is what a finding is about, without what changes at every boot.
type key struct{ code, subject, where string }

func keyOf(code, subject, where string) key {
	if code == CodeStacked {
		code = CodeDoubling // the same pile, when one more or less is on it
	}
	return key{code, subject, stable(where)}
}

// known is the worst that was said about one thing, and how much of it there was.
type known struct {
	answer facts.Truth
	amount int
}

// grownPart is by which part of itself an amount has to grow to be worse: any
// more in a small pile, and not each mount of a table that is near its limit.
const grownPart = 10

// better reports whether the baseline had less of a problem than a finding has.
func (k known) better(f Finding) bool {
	return worse(f.Answer, k.answer) || f.Answer == facts.No && f.Amount > k.amount+k.amount/grownPart
}

// stable drops the numbers of a process and of a namespace from the words for
// a place: "runtime containerd[812] mnt:[4026531841]" is "runtime containerd
// mnt:".
func stable(where string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(where, "[")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		number, after, closed := strings.Cut(rest, "]")
		if !closed || number == "" || strings.Trim(number, "0123456789") != "" {
			b.WriteString("[")
			after = rest
		}
		where = after
	}
}

// uncounted drops the words that are numbers: "descriptors of 69 processes" are
// others the next time, and as little read.
func uncounted(what string) string {
	number := func(word string) bool { return strings.Trim(word, "0123456789()[]:,") == "" }
	return strings.Join(slices.DeleteFunc(strings.Fields(what), number), " ")
}

// written is what of the JSON of a report a baseline needs. Text that is not
// UTF-8 is under the name with "_b64".
type written struct {
	Schema     string  `json:"schema"`
	Pod        *string `json:"pod"`
	Baseline   *string `json:"baseline"`
	Containers *int    `json:"containers"`
	Places     []Size  `json:"places"`
	Findings   *[]struct {
		Code       string `json:"code"`
		Answer     string `json:"answer"`
		Amount     int    `json:"amount"`
		Subject    string `json:"subject"`
		SubjectB64 string `json:"subject_b64"`
		Where      string `json:"where"`
		WhereB64   string `json:"where_b64"`
	} `json:"findings"`
	Unknown *[]struct {
		What    string `json:"what"`
		WhatB64 string `json:"what_b64"`
	} `json:"unknown"`
}

// ReadBaseline reads the JSON of an earlier report of the whole node. Anything
// else is an error: a baseline that knew nothing would find that nothing is new.
func ReadBaseline(text []byte) (Baseline, error) {
	var w written
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&w); err != nil {
		return Baseline{}, fmt.Errorf("not the JSON of a report (doctor -o json): %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Baseline{}, errors.New("there is more than one JSON value in it")
	}
	if w.Schema != Schema {
		return Baseline{}, fmt.Errorf("its schema is %q, not %q", w.Schema, Schema)
	}
	switch {
	case w.Pod != nil || w.Baseline != nil:
		return Baseline{}, errors.New("it is a report made with --pod or --baseline, which does not tell all of the node")
	case w.Findings == nil || w.Unknown == nil || w.Containers == nil:
		return Baseline{}, errors.New("a report has findings, unknown and containers; it has not all of them")
	}
	b := Baseline{known: map[key]known{}, unknown: map[string]bool{}, sizes: w.Places, containers: *w.Containers}
	for i, f := range *w.Findings {
		answer, ok := map[string]facts.Truth{"yes": facts.Yes, "no": facts.No, "unknown": facts.Unknown}[f.Answer]
		if !ok || f.Code == "" {
			return Baseline{}, fmt.Errorf("finding %d: code %q, answer %q: want a code, and yes, no or unknown", i, f.Code, f.Answer)
		}
		subject, err := either(f.Subject, f.SubjectB64)
		where, err2 := either(f.Where, f.WhereB64)
		if err := errors.Join(err, err2); err != nil {
			return Baseline{}, fmt.Errorf("finding %d: %w", i, err)
		}
		if f.Amount < 0 {
			return Baseline{}, fmt.Errorf("finding %d: the amount %d is negative", i, f.Amount)
		}
		b.remember(keyOf(f.Code, subject, where), known{answer, f.Amount})
	}
	for i, u := range *w.Unknown {
		what, err := either(u.What, u.WhatB64)
		if err != nil {
			return Baseline{}, fmt.Errorf("unknown %d: %w", i, err)
		}
		b.unknown[uncounted(what)] = true
	}
	return b, nil
}

// remember keeps the worst that was said about one thing.
func (b Baseline) remember(k key, now known) {
	before, ok := b.known[k]
	switch {
	case !ok || worse(now.answer, before.answer):
		b.known[k] = now
	case now.answer == before.answer:
		b.known[k] = known{now.answer, max(now.amount, before.amount)}
	}
}

// worse orders the answers: no, then what cannot be told, then yes.
func worse(a, b facts.Truth) bool {
	order := []facts.Truth{facts.No, facts.Unknown, facts.Yes}
	return slices.Index(order, a) < slices.Index(order, b)
}

func either(text, b64 string) (string, error) {
	if b64 == "" {
		return text, nil
	}
	raw, err := base64.StdEncoding.DecodeString(b64)
	return string(raw), err
}

// worse returns of a document what the baseline did not have: problems, more of
// a problem, what cannot be told any more, and tables that grow; and how many
// problems it had as well.
func (b Baseline) worse(d Document) (worst []Finding, unread []namespaces.Unknown, kept int) {
	for _, f := range d.Findings {
		before, ok := b.known[keyOf(f.Code, f.Subject, f.Where)]
		switch {
		case f.Answer != facts.Yes && (!ok || before.better(f)):
			if ok && f.Answer == before.answer {
				f.Message += fmt.Sprintf("; %d in the baseline", before.amount)
			}
			worst = append(worst, f)
		case f.Answer == facts.No:
			kept++
		}
	}
	for _, u := range d.Unknown {
		if !b.unknown[uncounted(u.What)] {
			unread = append(unread, u)
		}
	}
	worst = append(worst, b.growth(d.Places, d.Containers)...)
	inOrder(worst)
	return worst, unread, kept
}
