package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/policytest"
	"github.com/mountward/mountward/pkg/settings"
)

// testFlags is what the verb was asked.
type testFlags struct {
	policyOptions
	config    settings.Source
	run       *regexp.Regexp // nil: every test
	coverage  bool
	least     float64 // percent of the rules
	workloads string  // a table
	output    string
}

func testCommand() *cobra.Command {
	var f testFlags
	var pattern string
	c := &cobra.Command{
		Use:   "test [FILE|DIR...]",
		Short: "run the tests of a policy",
		Long: `Test runs the tests in FILEs and in the files of DIRs whose names end in
_test.toml: each describes a container on a host and says what the policy must
decide about its mounts. Without arguments it runs those beside the configured
policy. What failed is printed with what was expected, what was decided, and
every rule that was tried.

  policy = ["policy.toml"]          # from the directory of this file

  [[test]]
  name      = "an exporter may not mount onto the host"
  pod       = { namespace = "monitoring", labels = { app = "exporter" } }
  container = { name = "exporter", privileged = false }
  mount     = [
    { source = "/", destination = "/host", readonly = true },
    { source = "/var/lib/kubelet", propagation = "rshared", expect = { action = "deny", rule = "nobody-else" } },
  ]

With --workloads the argument is a policy (without any: the configured one), and
it prints what the policy does to a table of the hostPath mounts of real
workloads: which mounts it changes, which containers it refuses, and which break:
those that are refused, and those of which a mount lets less through than it asks
for.

Exit code: 0 all passed, 1 one failed, could not be run, or reached too few
rules (with --workloads: one breaks), 64 usage.`,
		Example: `  mountward test policy_test.toml --coverage
  mountward test --workloads workloads.csv policy.toml
  mountward test --workloads workloads.csv --drop-in new.toml`,
		RunE: func(c *cobra.Command, args []string) error {
			f.config.Explicit = c.Flags().Changed("config")
			if err := f.check(c, pattern); err != nil {
				return &exit{ExitUsage, err}
			}
			if f.workloads != "" {
				return testWorkloads(c, f, args)
			}
			return testPolicies(c, f, args)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	configFlag(c, &f.config.Path)
	c.Flags().StringVar(&pattern, "run", "", "only tests whose names match `regexp`")
	c.Flags().BoolVar(&f.coverage, "coverage", false, "print the rules that no test reached")
	c.Flags().Float64Var(&f.least, "min-coverage", 0, "fail where the tests reach less than `percent` of a policy's rules")
	c.Flags().StringVar(&f.workloads, "workloads", "", "print what a policy does to the workloads of a CSV `file`")
	_ = c.MarkFlagFilename("workloads", "csv") // fails only for a flag that is not there
	f.dropInFlag(c, "the policy of --workloads")
	outputFlag(c, &f.output, formatTable, formatJSON)
	return c
}

func (f *testFlags) check(c *cobra.Command, pattern string) error {
	if f.workloads == "" && c.Flags().Changed("workloads") {
		return errors.New(`--workloads "": want a file`)
	}
	if err := notEmpty(c, nil, "drop-in"); err != nil {
		return err
	}
	if f.workloads == "" && len(f.dropIns) > 0 {
		return errors.New("--drop-in goes with --workloads; a file with tests names its drop-ins itself: drop_ins = [\"new.toml\"]")
	}
	for _, name := range []string{"run", "coverage", "min-coverage"} {
		if f.workloads != "" && c.Flags().Changed(name) {
			return fmt.Errorf("--%s is about tests, and --workloads runs none", name)
		}
	}
	if c.Flags().Changed("run") {
		var err error
		if f.run, err = regexp.Compile(pattern); err != nil {
			return fmt.Errorf("--run %s: %w", show.Word(pattern), err)
		}
	}
	if !(f.least >= 0 && f.least <= 100) { // nor what is no number
		return fmt.Errorf("--min-coverage %v: want a percentage from 0 to 100", f.least)
	}
	f.coverage = f.coverage || c.Flags().Changed("min-coverage")
	return checkFormat(f.output, formatTable, formatJSON)
}

// testPolicies runs tests and prints what came of them.
func testPolicies(c *cobra.Command, f testFlags, args []string) error {
	files, err := testFiles(f.config, args)
	if err != nil {
		return untested(c, f, args, err)
	}
	run := testRun{only: f.run, coverages: map[string]*coverage{}}
	tests := show.Tests{Schema: show.TestsSchema}
	for _, name := range files {
		tests.Files = append(tests.Files, run.file(name)...)
	}
	tests.Count()
	failed := tests.Failed > 0
	if f.coverage {
		for _, c := range run.covered {
			enough := c.Percent() >= f.least
			failed = failed || !enough
			tests.Coverage = append(tests.Coverage, show.TestCoverage{Policy: c.policy, Percent: c.Percent(), Enough: enough, Rules: c.Rules})
		}
	}
	switch f.output {
	case formatJSON:
		err = show.JSON(c.OutOrStdout(), tests)
	default:
		err = show.TestsText(c.OutOrStdout(), tests)
	}
	switch {
	case err != nil:
		return err
	case failed:
		return &exit{code: ExitNo}
	case tests.Passed == 0:
		return fmt.Errorf("--run %s matches the name of no test", show.Word(f.run.String()))
	default:
		return nil
	}
}

// untested says why nothing could be tested, in JSON too.
func untested(c *cobra.Command, f testFlags, args []string, err error) error {
	if f.output != formatJSON {
		return err
	}
	tests := show.Tests{Schema: show.TestsSchema, Files: []show.TestFile{{File: strings.Join(args, " "), Error: err.Error(), Tests: []show.Test{}}}}
	tests.Count()
	if err := show.JSON(c.OutOrStdout(), tests); err != nil {
		return err
	}
	return err
}

// coverage is how much of one policy was reached, by all files about it.
type coverage struct {
	*policytest.Coverage
	policy string
}
