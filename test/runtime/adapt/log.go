//go:build linux

package adapt

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/containerd/nri/pkg/log"
)

// SetLog has NRI write what it logs to w, for this process. It comes before the
// first runtime: NRI keeps one logger, and reads it at any time.
func SetLog(w io.Writer) { log.Set(&logger{w: w}) }

type logger struct {
	mutex sync.Mutex
	w     io.Writer
}

func (l *logger) Debugf(context.Context, string, ...any) {}

func (l *logger) Infof(_ context.Context, format string, args ...any) {
	l.print("info", format, args)
}

func (l *logger) Warnf(_ context.Context, format string, args ...any) {
	l.print("warning", format, args)
}

func (l *logger) Errorf(_ context.Context, format string, args ...any) {
	l.print("error", format, args)
}

func (l *logger) print(level, format string, args []any) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	fmt.Fprintf(l.w, "nri: "+level+": "+format+"\n", args...)
}
