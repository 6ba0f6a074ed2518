package ledger

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A field that is added to the facts and forgotten in clone would be shared,
// and one forgotten in the sample would not be looked at.
func TestACloneIsEqualAndSharesNothing(t *testing.T) {
	e := entry("c1")
	e.Container.Mounts = e.Container.Mounts[:1] // the other one is half empty on purpose
	c := clone(e)
	if diff := cmp.Diff(e, c); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	var walk func(a, b reflect.Value, path string)
	walk = func(a, b reflect.Value, path string) {
		if path == "Entry.Container.Devices" || path == "Entry.Container.Hazards" || strings.HasSuffix(path, ".Storage") {
			return // not kept
		}
		switch a.Kind() {
		case reflect.Pointer, reflect.Map, reflect.Slice:
			if a.IsNil() || a.Kind() != reflect.Pointer && a.Len() == 0 {
				t.Errorf("%s: empty in the sample", path)
				return
			}
			if a.Pointer() == b.Pointer() {
				t.Errorf("%s: shared", path)
			}
		default:
		}
		switch a.Kind() {
		case reflect.Pointer:
			walk(a.Elem(), b.Elem(), path)
		case reflect.Slice:
			walk(a.Index(0), b.Index(0), path)
		case reflect.Struct:
			if a.Type() == reflect.TypeFor[time.Time]() { // holds a pointer that nobody may copy
				return
			}
			for i := range a.NumField() {
				walk(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)
			}
		default:
		}
	}
	walk(reflect.ValueOf(e), reflect.ValueOf(c), "Entry")
}
