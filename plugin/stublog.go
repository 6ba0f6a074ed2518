package main

import (
	"context"
	"fmt"
)

// stubLogger carries the NRI stub's own words into our log, as debug lines but
// for its warnings and errors. A launched plugin has no log before it is
// configured; what the stub says until then is dropped.
type stubLogger struct{ daemon *daemon }

func (l stubLogger) Debugf(_ context.Context, format string, args ...any) {
	if l.daemon.trail.Load() != nil {
		l.daemon.log().Debugf("nri: "+format, args...)
	}
}

func (l stubLogger) Infof(ctx context.Context, format string, args ...any) {
	l.Debugf(ctx, format, args...)
}

func (l stubLogger) Warnf(_ context.Context, format string, args ...any) {
	if l.daemon.trail.Load() != nil {
		l.daemon.log().Warn("nri: " + fmt.Sprintf(format, args...))
	}
}

func (l stubLogger) Errorf(_ context.Context, format string, args ...any) {
	if l.daemon.trail.Load() != nil {
		l.daemon.log().Error("nri: " + fmt.Sprintf(format, args...))
	}
}
