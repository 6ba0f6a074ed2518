package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// maxConnections bounds how many requests are served at one time. Whoever comes
// then is told to come again.
const maxConnections = 16

// Daemon is what answers requests. Its methods are called from many goroutines
// and must not wait for anything, but for Reload.
type Daemon interface {
	Status() Status
	// Reload loads the policy anew and returns what is in force then. It waits
	// for the files until ctx ends; an error says that it cannot tell what came
	// of it.
	Reload(ctx context.Context) (Policy, error)
	// Emergency lets the daemon stand aside for a time, or no longer where that
	// is 0. The warning is for who asked.
	Emergency(d time.Duration) (warning string, err error)
}

// lookEvery is how often it is looked whether the socket is still there.
const lookEvery = 10 * time.Second

// Serve answers requests until ctx ends or the socket is taken away, then closes
// the listener. Each has a goroutine, a time and a size that are bounded, and
// their number is.
func (l *Listener) Serve(ctx context.Context, version string, daemon Daemon) {
	var work sync.WaitGroup
	defer work.Wait()
	over, cancel := context.WithCancel(ctx)
	defer cancel()
	work.Go(func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for !l.lost() {
			select {
			case <-over.Done():
				_ = l.Close() // ends Accept
				return
			case <-ticker.C:
			}
		}
		_ = l.Close()
	})
	slots := make(chan struct{}, maxConnections)
	for {
		conn, err := l.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // too many open files, for instance
			select {
			case <-time.After(100 * time.Millisecond):
			case <-over.Done():
			}
			continue
		}
		select {
		case slots <- struct{}{}:
			work.Go(func() {
				defer func() { <-slots }()
				// The end waits for nobody who is silent.
				defer context.AfterFunc(over, func() { _ = conn.SetReadDeadline(time.Now()) })()
				serve(over, conn, version, daemon)
			})
		default:
			answer(conn, Response{Version: version, Error: "too many requests at one time", Busy: true})
			_ = conn.Close() // whatever it was, it comes again
		}
	}
}

// serve answers one connection.
func serve(ctx context.Context, conn *net.UnixConn, version string, daemon Daemon) {
	defer conn.Close()
	response := Response{Version: version}
	request, err := receive(conn)
	if errors.Is(err, errNotRoot) || gone(conn) {
		return // nobody is told, and nothing is done
	}
	if err == nil {
		err = handle(ctx, &response, request, daemon)
	}
	if err != nil {
		response.Error = err.Error()
	}
	answer(conn, response)
}

// handle does what is asked. A mistake of ours in it costs this answer alone.
func handle(ctx context.Context, response *Response, r Request, daemon Daemon) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the daemon failed: %v", p)
		}
	}()
	switch r.Verb {
	case VerbStatus:
		s := daemon.Status()
		response.Status = &s
		return nil
	case VerbReload:
		ctx, cancel := context.WithTimeout(ctx, reloadTime)
		defer cancel()
		p, err := daemon.Reload(ctx)
		if err == nil {
			response.Policy = &p
		}
		return err
	default:
		d, err := r.Duration()
		if err == nil {
			response.Warning, err = daemon.Emergency(d)
		}
		return err
	}
}

var errNotRoot = errors.New("only root may ask")

// receive reads the request, up to the end of its line.
func receive(conn *net.UnixConn) (Request, error) {
	uid, err := linux.PeerUID(conn)
	if err != nil || uid != 0 {
		return Request{}, errNotRoot
	}
	if err := conn.SetReadDeadline(time.Now().Add(messageTime)); err != nil {
		return Request{}, err
	}
	line, err := readLine(conn, maxRequest)
	if err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	return parseRequest(line)
}

// goneTime is how long it is looked whether who asked is still there.
const goneTime = 5 * time.Millisecond

// gone reports whether who asked has given up. A daemon that hung finds what was
// asked of it long ago, and must not begin an emergency that is over.
func gone(conn *net.UnixConn) bool {
	if err := conn.SetReadDeadline(time.Now().Add(goneTime)); err != nil {
		return true
	}
	_, err := conn.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// readLine reads up to the end of a line, which must come.
func readLine(r io.Reader, most int64) ([]byte, error) {
	line, err := bufio.NewReader(io.LimitReader(r, most+1)).ReadBytes('\n')
	switch {
	case err == nil:
		return line, nil
	case int64(len(line)) > most:
		return nil, fmt.Errorf("longer than %d bytes", most)
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	default:
		return nil, err
	}
}

// answer writes a response. Whoever does not read it has none.
func answer(conn *net.UnixConn, r Response) {
	r.Schema = ResponseSchema
	text, err := json.Marshal(r)
	if err != nil {
		text, _ = json.Marshal(Response{Schema: ResponseSchema, Version: r.Version, Error: "the daemon failed: " + err.Error()}) // three texts
	}
	if conn.SetWriteDeadline(time.Now().Add(messageTime)) == nil {
		_, _ = conn.Write(append(text, '\n')) // nobody is left to tell
	}
}
