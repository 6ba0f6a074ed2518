package audit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/internal/words"
)

// PolicyError is one error of a policy file.
type PolicyError struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1; 0 where the error has no place
	Column  int    `json:"column,omitempty"` // from 1
	Message string `json:"message"`
}

// String is "file:line:col: message", with as much of the place as is known.
func (e PolicyError) String() string {
	if e.File == "" {
		return e.Message
	}
	place := e.File
	if e.Line > 0 {
		place += fmt.Sprintf(":%d", e.Line)
		if e.Column > 0 {
			place += fmt.Sprintf(":%d", e.Column)
		}
	}
	return place + ": " + e.Message
}

// PolicyErrors lists what an error says: each place of a file that was decoded
// strictly, and each of several errors joined.
func PolicyErrors(err error) []PolicyError {
	var places strict.Errors
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []PolicyError
		for _, one := range joined.Unwrap() {
			all = append(all, PolicyErrors(one)...)
		}
		return all
	}
	if !errors.As(err, &places) {
		return []PolicyError{{Message: err.Error()}}
	}
	all := make([]PolicyError, 0, len(places))
	for _, e := range places {
		all = append(all, PolicyError{File: e.File, Line: e.Line, Column: e.Column, Message: e.Message})
	}
	return all
}

// InForce is what decides in place of a policy that was rejected.
type InForce struct {
	Policy
	Source string `json:"source"`          // FromFile, FromBuiltIn, FromLastGood or FromNothing
	Stays  bool   `json:"stays,omitempty"` // it was in force before as well
}

// PolicyRejected is recorded when a policy could not be used.
type PolicyRejected struct {
	Name    string        `json:"name"` // of the file rejected
	Errors  []PolicyError `json:"errors"`
	InForce InForce       `json:"in_force"`
}

func (p PolicyRejected) describe() description {
	desc := description{kind: kindPolicyRejected(), priority: prioError, message: p.headline()}
	f := &desc.fields
	f.add("MOUNTWARD_MODE", p.InForce.Mode)
	f.add("MOUNTWARD_POLICY", p.Name)
	f.add("MOUNTWARD_IN_FORCE", strings.TrimSpace(p.InForce.Source+" "+p.InForce.Name))
	f.add("MOUNTWARD_IN_FORCE_SHA256", p.InForce.SHA256)
	var texts []string
	for _, e := range p.Errors {
		texts = append(texts, e.String())
	}
	f.each("MOUNTWARD_ERROR", texts)
	return desc
}

func (p PolicyRejected) headline() string {
	text := fmt.Sprintf("policy %s rejected", word(p.Name))
	if len(p.Errors) > 0 {
		text += ": " + p.Errors[0].String()
	}
	if more := len(p.Errors) - 1; more > 0 {
		text += fmt.Sprintf(" (and %s: see MOUNTWARD_ERROR)", words.Count(more, "more error"))
	}
	return text + "; " + p.InForce.text()
}

func (i InForce) text() string {
	mode := ""
	if i.Mode != "" {
		mode = ", mode " + i.Mode
	}
	is := " is in force"
	if i.Stays {
		is = " stays in force"
	}
	switch i.Source {
	case FromNothing:
		return "no policy is in force and every container but static pods is refused"
	case FromBuiltIn:
		return "the built-in policy" + is + mode
	case FromLastGood:
		return "the last good copy " + short(i.SHA256) + is + mode
	default:
		return "the policy loaded before, " + short(i.SHA256) + ", stays in force" + mode
	}
}
