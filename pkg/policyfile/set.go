package policyfile

import (
	"fmt"

	"github.com/mountward/mountward/pkg/policy"
)

// Origin says where the files of a policy came from.
type Origin string

// The origins.
const (
	OriginFile     Origin = "file"
	OriginBuiltIn  Origin = "built-in"
	OriginLastGood Origin = "last-good"
)

// BuiltInName is the name of the built-in policy in positions.
const BuiltInName = "built-in"

// Set is the text of a policy: all its files, named by the paths they were read
// from.
type Set struct {
	Main    policy.File
	DropIns []policy.File
	Origin  Origin
}

// SHA256 returns the checksum that the policy has when it is parsed; see
// policy.Sum.
func (s Set) SHA256() string { return policy.Sum(s.Main, s.DropIns...) }

// Parse parses the files. They are parsed whenever they change, perhaps half
// written: a fault of ours in it is an error of the policy, and not the end of
// the daemon.
func (s Set) Parse() (*policy.Policy, error) { return s.parse(policy.Parse) }

func (s Set) parse(by func(policy.File, ...policy.File) (*policy.Policy, error)) (p *policy.Policy, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			p, err = nil, fmt.Errorf("read policy %s: a fault in mountward itself, please report it: %v", s.Main.Name, fault)
		}
	}()
	return by(s.Main, s.DropIns...)
}
