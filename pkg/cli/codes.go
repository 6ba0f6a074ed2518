package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/lint"
)

// codePage is the page of a code, of hazards or of lint.
type codePage struct {
	code, title string
	page        func() string
}

// codePages returns all codes, in order.
func codePages() []codePage {
	var all []codePage
	for _, code := range facts.HazardCodes() {
		all = append(all, codePage{string(code), hazard.Title(code), func() string { page, _ := hazard.Page(code); return page }})
	}
	for _, code := range facts.LintCodes() {
		all = append(all, codePage{string(code), lint.Title(code), func() string { page, _ := lint.Page(code); return page }})
	}
	return all
}

func listCodes(w io.Writer) error {
	for _, p := range codePages() {
		if _, err := fmt.Fprintf(w, "%s  %s\n", p.code, p.title); err != nil {
			return err
		}
	}
	return nil
}

func explainCode(w io.Writer, text string) error {
	for _, p := range codePages() {
		if p.code == text {
			_, err := io.WriteString(w, p.page())
			return err
		}
	}
	message := fmt.Sprintf("explain %s: there is no such code; mountward explain lists all", show.Word(text))
	if near := nearCodes(text); len(near) > 0 {
		message = fmt.Sprintf("explain %s: there is no such code; did you mean %s?", show.Word(text), strings.Join(near, ", "))
	}
	return &exit{ExitUsage, errors.New(message)}
}

// nearCodes returns the codes that a text may mean: the one that differs in
// case or by a letter or two, or all that begin like it.
func nearCodes(text string) []string {
	var all, near []string
	upper := strings.ToUpper(text)
	for _, p := range codePages() {
		all = append(all, p.code)
		if len(upper) > len("MW1") && strings.HasPrefix(p.code, upper) {
			near = append(near, p.code)
		}
	}
	if slices.Contains(all, upper) {
		return []string{upper}
	}
	if len(near) > 0 {
		return near
	}
	if nearest := strict.Nearest(upper, all); nearest != "" {
		return []string{nearest}
	}
	return nil
}

// completeCodes offers all codes to a shell.
func completeCodes() []string {
	var codes []string
	for _, p := range codePages() {
		codes = append(codes, cobra.CompletionWithDesc(p.code, p.title))
	}
	return codes
}
