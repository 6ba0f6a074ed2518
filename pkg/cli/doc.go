// Package cli is the command line: one file a verb. Data goes to standard
// output and everything else to standard error; what a person reads is a
// table or a line, what a program reads has a schema name.
//
// Exit codes: 0 yes, healthy, same; 1 no, findings, drift; 2 cannot tell;
// 64 the command was not understood (sysexits(3) EX_USAGE).
package cli
