package policy

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// lvmSelector holds where a logical volume that the mount is stored on has both
// names; a list that is empty asks for nothing. It stands only in rules that
// audit, and these are tried only where the storage was looked up.
type lvmSelector struct{ vg, lv []nameGlob }

func (s lvmSelector) key() string {
	switch {
	case s.lv == nil:
		return keyLVM + ".vg"
	case s.vg == nil:
		return keyLVM + ".lv"
	default:
		return keyLVM
	}
}

func (s lvmSelector) match(q *query, _ bool) facts.Truth {
	storage := q.mount.Storage
	if storage == nil || !storage.Known {
		return facts.Unknown
	}
	for _, v := range storage.LVs {
		if (s.vg == nil || anyName(s.vg, v.VG)) && (s.lv == nil || anyName(s.lv, v.LV)) {
			return facts.Yes
		}
	}
	return facts.No
}

func (s lvmSelector) why(q *query, _ bool) string {
	var want []string
	if s.vg != nil {
		want = append(want, "volume group "+orNames(s.vg))
	}
	if s.lv != nil {
		want = append(want, "logical volume "+orNames(s.lv))
	}
	return s.found(q.mount.Storage) + ", wants " + strings.Join(want, " and ")
}

func (s lvmSelector) found(storage *facts.Storage) string {
	switch {
	case storage == nil:
		return "it is not known (it is looked up once the container runs)"
	case !storage.Known:
		return fmt.Sprintf("it is not known (%s)", storage.Why)
	case len(storage.LVs) > 0:
		return "it is on " + or(storage.LVs, facts.LogicalVolume.String)
	case storage.Why != "":
		return fmt.Sprintf("it is on none (%s)", storage.Why)
	default:
		return "it is on none"
	}
}
