// Package policy holds the language of mountward's policy files and decides by
// them. It is pure: a decision is a function of a policy, the facts about a
// container and what the host view knows of the paths that the rules name.
//
// A policy is an ordered list of rules. The first rule that matches a mount and
// allows, sets or denies decides it; rules that audit are collected on the
// way; where no rule decides, the policy's default does.
//
// A rule in audit mode decides nothing: it is collected with what it would have
// done, and the policy decides as if the rule were not there.
//
// A policy may consist of several files: the main one, which alone has version,
// mode and default, and drop-ins, whose rules follow its own.
//
// Matching has three values. A rule matches where all keys of its match hold
// and none of its except does. Where that cannot be told, a rule
// that allows or sets does not match and one that denies or audits does. Only a
// rule that asks for host.propagation never matches then: what cannot be told of
// the host's state refuses and changes nothing by itself.
package policy
