// Package policy holds the language of mountward's policy files and decides by
// them. It is pure: a decision is a function of a policy, the facts about a
// container and what the host view knows of the paths that the rules name.
//
// A policy is an ordered list of rules. The first rule that matches a mount and
// allows, sets or denies decides it; rules that audit are collected on the
// way; where no rule decides, the policy's default does.
//
// Matching has three values. A rule matches where all keys of its match hold
// and none of its except does. Where that cannot be told, a rule
// that allows or sets does not match and one that denies or audits does.
package policy
