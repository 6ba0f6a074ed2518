package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mountward/mountward/pkg/cli/internal/show"
)

// once makes it a usage error to give a flag of one value twice with two values,
// for a verb and all below it: the last would win in silence.
func once(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, list := f.Value.(pflag.SliceValue); !list {
			f.Value = &single{Value: f.Value}
		}
	})
	for _, below := range c.Commands() {
		once(below)
	}
}

// single is the value of a flag that has one.
type single struct {
	pflag.Value
	given *string
}

// Set takes the value, and another one only if it is the same.
func (s *single) Set(text string) error {
	if s.given != nil && *s.given != text {
		return fmt.Errorf("it is given twice, as %s before, and takes one value", show.Word(*s.given))
	}
	s.given = &text
	return s.Value.Set(text)
}
