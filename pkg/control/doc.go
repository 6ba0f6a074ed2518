// Package control is how one talks to a running daemon: a unix socket for root
// alone, the document of its status, and the notifications that systemd wants. The
// lock by which one daemon of a node decides is here too.
//
// A connection carries one request and one response, each a JSON object in one
// line with the name of its schema. Both are bounded in size and time, and so is
// the number of connections: whoever connects holds up nothing but himself.
//
// # Versions
//
// The daemon refuses a request with a schema, a verb or a member that it does
// not know: half a request is none. A response has at least "schema", "version"
// (of the daemon) and, where the request failed, "error", in every version to
// come; the command line takes members that it does not know for news.
package control
