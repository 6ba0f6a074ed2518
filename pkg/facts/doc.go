// Package facts is the vocabulary of mountward: what a pod asks for, what a
// host mount is, what was decided of it. It does no I/O and knows neither NRI
// nor the kernel's system calls, so that a decision is a pure function of a
// policy and facts and every fact can be written down in a test.
//
// A fact has three answers, never two: yes, no, and cannot tell with a reason.
// See Answer.
package facts
