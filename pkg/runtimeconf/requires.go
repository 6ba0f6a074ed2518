package runtimeconf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Requires reports whether containerd, as far as its files say, refuses to create
// containers while the plugin with this base name is away: the validator is
// there (since 2.2), enabled, and lists it by name or index-name.
func (c *Config) Requires(base string) bool {
	v := c.NRI.Validator
	return v.Enable.Value && Names(v.RequiredPlugins.Value, base) && !c.Release.Before(2, 2)
}

// Required is Requires with its reason, and unknown where not all of the files is
// known.
func (c *Config) Required(base string) facts.Answer {
	v := c.NRI.Validator
	switch {
	case !c.Complete:
		return c.incomplete()
	case c.Requires(base):
		return facts.Is(true, fmt.Sprintf("containers are refused while %s is away (%s)", base, v.RequiredPlugins.At))
	case c.Release.Before(2, 2):
		return facts.Is(false, "containerd 2.2 is the first that can require plugins, this is "+c.Release.String())
	case Names(v.RequiredPlugins.Value, base):
		return facts.Is(false, fmt.Sprintf("required_plugins names %s (%s), and the default validator is not enabled", base, v.RequiredPlugins.At))
	default:
		return facts.Is(false, fmt.Sprintf("required_plugins does not name %s (%s): containers start unjudged while it is away", base, v.RequiredPlugins.At))
	}
}

// Untolerated says whether no annotation lets a pod past the plugins that are
// required: whoever makes a pod chooses its annotations.
func (c *Config) Untolerated() facts.Answer {
	key := c.NRI.Validator.TolerateMissing
	switch {
	case !c.Complete:
		return c.incomplete()
	case key.Value == "":
		return facts.Is(true, "no pod can ask to be let through")
	default:
		return facts.Is(false, fmt.Sprintf("a pod with the annotation %q starts while a required plugin is away (%s)", key.Value, key.At))
	}
}

func (c *Config) incomplete() facts.Answer {
	why := "not all of " + c.Path + " and its imports could be read"
	if len(c.Unread) > 0 {
		why += ": " + c.Unread[0].Message
	}
	return facts.CannotTell(why)
}

// Names reports whether a list of plugins has the one with this base name, as
// "base" or as "NN-base".
//
// Source: GetPluginMap in pkg/api/validate.go of NRI 0.12.3.
func Names(list []string, base string) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		index, rest, ok := strings.Cut(name, "-")
		indexed := ok && len(index) == 2 && strings.Trim(index, "0123456789") == "" && rest == base
		return name == base || indexed
	})
}
