//go:build linux

package guard_test

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/containerd/nri/pkg/net/multiplex"
)

// way is what becomes of a connection.
type way int

const (
	whole            way = iota
	cut                  // ends at once
	cutAtConfigure       // ends when the runtime would configure the plugin
	stillAtConfigure     // stays, and brings no more
)

// wire stands between a plugin and the runtime's socket.
type wire struct {
	path, runtime string
	close         func() // ends it with its connections; it may be called again

	mu     sync.Mutex
	how    way // of the connections to come
	open   map[net.Conn]bool
	closed bool
}

func wireTo(t *testing.T, runtime, path string) *wire {
	t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{path: path, runtime: runtime, open: map[net.Conn]bool{}}
	var work sync.WaitGroup
	w.close = sync.OnceFunc(func() {
		_ = listener.Close()
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		w.end()
		work.Wait()
	})
	t.Cleanup(w.close)
	work.Go(func() {
		for {
			plugin, err := listener.Accept()
			if err != nil {
				return
			}
			work.Go(func() { w.carry(plugin) })
		}
	})
	return w
}

// breakAll ends what is connected, and has every connection break that comes.
func (w *wire) breakAll(how way) {
	w.become(how)
	w.end()
}

// mend leaves the connections to come whole.
func (w *wire) mend() { w.become(whole) }

func (w *wire) become(how way) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.how = how
}

func (w *wire) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.open {
		_ = conn.Close()
	}
}

func (w *wire) carry(plugin net.Conn) {
	defer plugin.Close()
	runtime, err := net.Dial("unix", w.runtime)
	if err != nil {
		return
	}
	defer runtime.Close()
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return
	}
	how := w.how
	w.open[plugin], w.open[runtime] = true, true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.open, plugin)
		delete(w.open, runtime)
	}()
	if how == cut {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(runtime, plugin) // an error is the end of it
		_ = runtime.Close()
	})
	defer back.Wait()
	w.toPlugin(plugin, runtime, how)
	if how == stillAtConfigure {
		return // the plugin is to end it
	}
	_ = plugin.Close()
}

// toPlugin carries frames of NRI's multiplexer: an ID and a length of 32 bits
// each, and what is sent. The runtime's first call on the plugin's service is
// Configure; what it answers to RegisterPlugin comes on the other connection,
// before it or after. A connection that breaks there does so once the plugin has
// been answered and would be configured.
func (w *wire) toPlugin(plugin io.Writer, runtime io.Reader, how way) {
	answered, configures := false, false
	for how == whole || !answered || !configures {
		var header [8]byte
		if _, err := io.ReadFull(runtime, header[:]); err != nil {
			return
		}
		frame := append(header[:], make([]byte, binary.BigEndian.Uint32(header[4:]))...)
		if _, err := io.ReadFull(runtime, frame[len(header):]); err != nil {
			return
		}
		id := multiplex.ConnID(binary.BigEndian.Uint32(header[:4]))
		if how != whole && id == multiplex.PluginServiceConn {
			configures = true
			continue
		}
		if _, err := plugin.Write(frame); err != nil {
			return
		}
		answered = true
	}
}
