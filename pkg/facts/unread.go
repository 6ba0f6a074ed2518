package facts

// Unread is something that could not be read or found out, and why. What it
// would have said is unknown, and no "no".
type Unread struct {
	What string `json:"what"`
	Why  string `json:"why"`
}
