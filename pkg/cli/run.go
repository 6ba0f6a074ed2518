package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// DefaultSocket is where containerd serves NRI.
const DefaultSocket = "/var/run/nri/nri.sock"

// DefaultIndex orders plugins: ours runs after most, so that it sees what they
// did.
const DefaultIndex = "90"

func runCommand(p Program) *cobra.Command {
	var config Config
	c := &cobra.Command{
		Use:   "run",
		Short: "run as a service on containerd's NRI socket",
		Long: `Run connects to containerd's NRI socket and stays. It loads the policy anew
when its files change, and on SIGHUP; SIGTERM ends it. When containerd launches
the program itself from its plugin directory, no verb is needed.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			config.Explicit = c.Flags().Changed("config")
			if err := config.check(); err != nil {
				return &exit{ExitUsage, err}
			}
			return p.Run(c.Context(), config)
		},
	}
	configFlag(c, &config.Path)
	c.Flags().StringVar(&config.Socket, "socket", DefaultSocket, "NRI `socket`")
	c.Flags().StringVar(&config.Index, "index", DefaultIndex, "plugin `index`, two digits")
	return c
}

// check refuses what NRI would refuse at every attempt to connect.
func (c Config) check() error {
	digit := func(i int) bool { return c.Index[i] >= '0' && c.Index[i] <= '9' }
	if len(c.Index) != 2 || !digit(0) || !digit(1) {
		return fmt.Errorf("--index %q: want two digits, such as %q", c.Index, DefaultIndex)
	}
	if c.Socket == "" {
		return fmt.Errorf("--socket %q: want the path of containerd's NRI socket, such as %s", c.Socket, DefaultSocket)
	}
	return nil
}

func versionCommand(p Program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  usageArgs(cobra.NoArgs),
		Run: func(c *cobra.Command, _ []string) {
			fmt.Fprintf(c.OutOrStdout(), "mountward %s\n", p.Version)
		},
	}
}
