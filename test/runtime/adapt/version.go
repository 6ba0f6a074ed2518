//go:build linux

package adapt

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/containerd/nri/pkg/adaptation"
)

// NRIVersion is the version of NRI that containerd has, which go.mod requires.
const NRIVersion = "v0.12.3"

// setVersion has the adaptation tell plugins a version of NRI. By itself it
// tells the one in the program's build information, which the binary of a test
// does not have, and plugins choose their events by what they are told.
func setVersion(a *adaptation.Adaptation, version string) error {
	field := reflect.ValueOf(a).Elem().FieldByName("nriVersion")
	if field.Kind() != reflect.String {
		return errors.New("set version of NRI: adaptation has no such field")
	}
	*(*string)(unsafe.Pointer(field.UnsafeAddr())) = version
	return nil
}
