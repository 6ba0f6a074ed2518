// Package journal writes records to systemd's journal by its native protocol.
//
// A record is an ordered list of pairs; a name may come more than once. A
// value is bytes: whatever it holds, newline, '=' or bytes that are not UTF-8,
// it can neither create nor change another field. A name that journald would
// not take is an error, and nothing is sent.
//
// Protocol: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/
package journal
