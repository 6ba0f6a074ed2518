package doctor

import "github.com/mountward/mountward/pkg/facts"

// checkNRI says what NRI's directories and socket would do to containerd, and,
// where mountward is installed or required, whether it guards this node.
func checkNRI(s *Snapshot) []Finding {
	r, ok := s.containerd()
	if !ok {
		return nil
	}
	if r.config.NRI.Enabled.Truth == facts.No {
		return nil // no directory is read, nothing listens
	}
	all := r.plugins()
	socket, findings := r.socket()
	all = append(all, findings...)
	return append(all, r.guard(socket)...)
}
