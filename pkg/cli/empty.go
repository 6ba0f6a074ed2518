package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
)

// notEmpty refuses arguments and values of flags that are empty: a script whose
// variable is not set would be told about everything.
func notEmpty(c *cobra.Command, args []string, flags ...string) error {
	if slices.Contains(args, "") {
		return errors.New("CONTAINER is empty, which names nothing")
	}
	for _, name := range flags {
		f := c.Flags().Lookup(name)
		empty := f.Value.String() == ""
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			empty = slices.Contains(list.GetSlice(), "")
		}
		if f.Changed && empty {
			return fmt.Errorf("--%s is empty, which names nothing", name)
		}
	}
	return nil
}

// checkTarget refuses a TARGET and values of flags that are empty.
func checkTarget(c *cobra.Command, args []string) error {
	if slices.Contains(args, "") {
		return &exit{ExitUsage, errors.New("TARGET is empty, which names nothing")}
	}
	if err := notEmpty(c, args, "config", "state"); err != nil {
		return &exit{ExitUsage, err}
	}
	return nil
}
