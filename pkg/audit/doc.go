// Package audit is the trail: what mountward decided, proved and found, as
// typed events in the journal and in a file of JSON lines.
//
// An event travels through a logrus logger as every other log line does. A hook
// turns it into ordered journal fields and hands it to a bounded queue; one
// goroutine writes. Whoever records an event never waits for the journal, a
// disk or a reader. What the journal does not take waits in a bounded spool of
// files and is sent later, in order, also by the next process. What could not be
// kept is counted, and said as soon as something gets through again.
//
// MOUNTWARD_RECORD holds the whole event as JSON with the name of its schema,
// and is the contract; a file has the same text, one event a line. The flat
// fields beside it serve journalctl's matches. MESSAGE is for people and never
// to be parsed. No field name comes from input.
//
// # Bytes that are not UTF-8
//
// Names of files are bytes; in the journal they arrive as they are. JSON has no
// bytes, so in a record (see [Marshal]):
//
//   - a member "x" whose text is not valid UTF-8 is written as "x_b64", base64
//     of the bytes, instead of "x";
//   - an element of an array, and a value of a map, becomes {"b64": "..."};
//   - a key of a map becomes "b64:" and the base64 of its bytes, and so does a
//     key that begins with "b64:" by itself.
package audit
