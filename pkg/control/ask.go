package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// ErrNoAnswer matches the error of Ask where no daemon answers: there is no
// socket, nobody listens at it, or nothing comes back.
var ErrNoAnswer = errors.New("no daemon answers")

// askTime bounds the whole of a question, whatever the daemon does, and
// reloadTime how much longer that takes for which files are read.
const (
	askTime    = 5 * time.Second
	reloadTime = 10 * time.Second
)

// busyPause is how long to wait before asking again one that has too much to do.
const busyPause = 50 * time.Millisecond

// Ask asks the daemon with this runtime directory (settings.RuntimeDir). A
// response that says the request failed is an error.
func Ask(ctx context.Context, dir string, r Request) (Response, error) {
	r.Schema = RequestSchema
	within := askTime
	if r.Verb == VerbReload {
		within += reloadTime
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		response, err := ask(ctx, dir, r)
		if err != nil {
			return response, fmt.Errorf("ask the daemon on %s: %w", Path(dir), err)
		}
		if !response.Busy {
			return response, nil
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return response, fmt.Errorf("ask the daemon on %s: %s", Path(dir), response.Error)
		}
	}
}

func ask(ctx context.Context, dir string, r Request) (Response, error) {
	line, err := exchange(ctx, dir, r)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return Response{}, fmt.Errorf("%w (%w)", ErrNoAnswer, bare(err))
	case errors.Is(err, syscall.EAGAIN): // the kernel keeps no more of them waiting
		return Response{Error: "too many requests at one time", Busy: true}, nil
	case errors.Is(err, fs.ErrPermission):
		return Response{}, fmt.Errorf("%w (only root may ask)", bare(err))
	case err != nil:
		return Response{}, fmt.Errorf("%w (%w)", ErrNoAnswer, bare(err))
	}
	return parseResponse(line)
}

// exchange sends the request and returns the line that comes back.
func exchange(ctx context.Context, dir string, r Request) ([]byte, error) {
	addr, release, err := address(dir, socketName)
	if err != nil {
		return nil, err
	}
	defer release()
	dialed, err := new(net.Dialer).DialContext(ctx, "unix", addr)
	if err != nil {
		return nil, err
	}
	defer dialed.Close()
	conn := dialed.(*net.UnixConn)
	if uid, err := linux.PeerUID(conn); err != nil || uid != 0 {
		return nil, errors.Join(errors.New("who listens there is not root"), err)
	}
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	// A daemon that is busy answers without reading: the answer counts.
	_, writeErr := conn.Write(append(text, '\n'))
	line, err := readLine(conn, maxResponse)
	if err != nil {
		return nil, errors.Join(err, writeErr)
	}
	return line, nil
}

// parseResponse reads a response as tolerantly as it can: members that are not
// known are a newer daemon's.
func parseResponse(line []byte) (Response, error) {
	var head struct {
		Schema  string `json:"schema"`
		Version string `json:"version"`
		Error   string `json:"error"`
		Busy    bool   `json:"busy"`
		Status  struct {
			Schema string `json:"schema"`
		} `json:"status"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Response{}, fmt.Errorf("its answer is not understood: %w", err)
	}
	r := Response{Schema: head.Schema, Version: head.Version, Error: head.Error, Busy: head.Busy}
	switch {
	case head.Busy:
		return r, nil
	case head.Error != "":
		return r, errors.New(head.Error)
	case head.Schema != ResponseSchema:
		return r, otherVersion(head.Version, head.Schema, ResponseSchema)
	case head.Status.Schema != "" && head.Status.Schema != StatusSchema:
		return r, otherVersion(head.Version, head.Status.Schema, StatusSchema)
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("its answer is not understood: %w", err)
	}
	return r, nil
}

func otherVersion(version, schema, ours string) error {
	return fmt.Errorf("it is mountward %.60q and answers in %.60q, this command line reads %s: use the daemon's own binary", version, schema, ours)
}

// bare takes the operation and address off an error of package net.
func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}
