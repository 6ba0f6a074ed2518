package ledger

import "slices"

// maxRecent bounds the memory of a ledger: one entry has some ten thousand
// bytes, and each is needed shortly after it was put.
const maxRecent = 64

// recent holds the entries that were put last, the oldest first, whether or not
// a file could take them. The zero value is empty.
type recent struct {
	entries []Entry
}

func (r *recent) put(e Entry) {
	r.remove(e.Container.ID)
	if len(r.entries) == maxRecent {
		r.entries = slices.Delete(r.entries, 0, 1)
	}
	r.entries = append(r.entries, e)
}

func (r *recent) get(id string) (Entry, bool) {
	if i := r.index(id); i >= 0 {
		return r.entries[i], true
	}
	return Entry{}, false
}

func (r *recent) remove(id string) {
	if i := r.index(id); i >= 0 {
		r.entries = slices.Delete(r.entries, i, i+1)
	}
}

// merge adds the ids held here to those of the files.
func (r *recent) merge(ids []string) []string {
	for _, e := range r.entries {
		ids = append(ids, e.Container.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (r *recent) index(id string) int {
	return slices.IndexFunc(r.entries, func(e Entry) bool { return e.Container.ID == id })
}
