package cli

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/policytest"
)

// testRun runs files with tests and counts what they reach.
type testRun struct {
	only      *regexp.Regexp       // nil: every test
	covered   []*coverage          // in the order in which the policies came
	coverages map[string]*coverage // by the policy's path
}

// file runs the tests of one file on each policy that it names.
func (r *testRun) file(name string) []show.TestFile {
	f, paths, dropIns, err := readTests(name)
	if err != nil {
		return []show.TestFile{{File: name, Error: err.Error(), Tests: []show.Test{}}}
	}
	var reports []show.TestFile
	for _, path := range paths {
		report := show.TestFile{File: name, Policy: together(path, dropIns), Tests: []show.Test{}}
		if err := r.policy(&report, f, path, dropIns); err != nil {
			report.Error = err.Error()
		}
		reports = append(reports, report)
	}
	return reports
}

// together names a policy and the drop-ins that were added to it.
func together(path string, dropIns []string) string {
	return strings.Join(append([]string{path}, dropIns...), "+")
}

// readTests reads a file with tests and finds its policies and more drop-ins.
func readTests(name string) (f *policytest.File, policies, dropIns []string, err error) {
	data, err := readText(name)
	if err != nil {
		return nil, nil, nil, err
	}
	f, err = policytest.Parse(name, data)
	if err != nil {
		if !strings.HasSuffix(name, policytest.Suffix) {
			err = fmt.Errorf("%w\nhint: the names of files with tests end in %s; to check a policy: mountward check %s", err, policytest.Suffix, show.Word(name))
		}
		return nil, nil, nil, err
	}
	if policies, err = filesAt(filepath.Dir(name), "policy", f.Policy); err != nil {
		return nil, nil, nil, err
	}
	dropIns, err = filesAt(filepath.Dir(name), "drop-in", f.DropIns)
	return f, policies, dropIns, err
}

// policy runs the tests of a file on one policy.
func (r *testRun) policy(report *show.TestFile, f *policytest.File, path string, dropIns []string) error {
	p, _, err := policyfile.LoadWith(path, dropIns)
	if err != nil {
		return err
	}
	report.SHA256 = p.SHA256
	covered := r.coverage(p, report.Policy)
	for _, one := range f.Cases {
		if r.only != nil && !r.only.MatchString(one.Name) {
			continue
		}
		result := one.Run(p, judgeTest)
		covered.Add(result)
		report.Tests = append(report.Tests, show.TestOf(p, result))
	}
	if f.Workloads != nil && r.only == nil {
		report.Workloads = checkWorkloads(p, f)
	}
	return nil
}

// coverage returns the counters of a policy.
func (r *testRun) coverage(p *policy.Policy, path string) *coverage {
	c, ok := r.coverages[path]
	if !ok {
		c = &coverage{policytest.NewCoverage(p), path}
		r.coverages[path] = c
		r.covered = append(r.covered, c)
	}
	return c
}

// checkWorkloads holds the policy to what its tests say of a table of workloads.
func checkWorkloads(p *policy.Policy, f *policytest.File) *show.TestWorkloads {
	name := f.Workloads.Table
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(f.Name), name)
	}
	w := &show.TestWorkloads{Table: name}
	table, err := readTable(name, f.Host)
	if err != nil {
		w.Error = f.Workloads.At + ": " + err.Error()
		return w
	}
	w.Containers = table.Containers()
	w.Broken, w.Idle = f.Workloads.Unnamed(table.Effects(p, judgeTest))
	w.Passed = len(w.Broken)+len(w.Idle) == 0
	return w
}

// readTable reads a table of workloads, for a host.
func readTable(name string, h policytest.Host) (*policytest.Table, error) {
	data, err := readText(name)
	if err != nil {
		return nil, err
	}
	return policytest.ParseTable(name, bytes.NewReader(data), h)
}
