// Package strict decodes the TOML files an administrator writes and accepts
// nothing that a reader could misunderstand. A key that is misspelled, in
// another case or below the wrong header would silently widen a rule; here
// each is an error with its file, line and column, and all of them are
// reported at once.
//
// The grammar is go-toml's. What go-toml lets through (measured with v2.4.3:
// keys in another case, [rule] for [[rule]], everything after the first wrong
// type) is found by comparing the syntax tree with the target's types.
package strict
