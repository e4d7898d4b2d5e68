package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// wire is one keep-alive HTTP connection that spends little on itself: requests are bytes made beforehand, of a reply
// it reads the status and the body. The load shares its processors with the server, as pgbench does with Postgres; a
// general HTTP client would weigh more than the server under test.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte // of the latest reply
}

func dialWire(addr string) (*wire, error) {
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 16<<10)}, nil
}

func (w *wire) close() { _ = w.conn.Close() }

// request is a complete HTTP/1.1 request. agent acts in a session of the same name.
func request(method, path, key, agent, body string) []byte {
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: %s\r\nX-Project: %s\r\nX-Agent-Id: %s\r\nX-Session-Id: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, path, key, project, agent, agent, len(body), body)
}

var errRefused = errors.New("the reply is not the one expected")

// do sends a request and reads its reply, which must have status 200 and hold want.
func (w *wire) do(req, want []byte) error {
	_ = w.conn.SetDeadline(time.Now().Add(30 * time.Second)) // a closed connection fails the write
	if _, err := w.conn.Write(req); err != nil {
		return err
	}
	status, length, err := w.head()
	if err != nil {
		return err
	}
	if cap(w.body) < length {
		w.body = make([]byte, length)
	}
	w.body = w.body[:length]
	if _, err := io.ReadFull(w.in, w.body); err != nil {
		return err
	}
	if status != 200 || !bytes.Contains(w.body, want) {
		return fmt.Errorf("%w: status %d, %.300s", errRefused, status, w.body)
	}
	return nil
}

var (
	lengthHeader = []byte("Content-Length:")
	crlf         = []byte("\r\n")
)

// head reads up to the blank line.
func (w *wire) head() (status, length int, err error) {
	length = -1
	for first := true; ; first = false {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return 0, 0, err
		}
		switch {
		case first:
			if len(line) < 12 {
				return 0, 0, fmt.Errorf("%w: %q", errRefused, line)
			}
			if status, err = strconv.Atoi(string(line[9:12])); err != nil {
				return 0, 0, err
			}
		case bytes.Equal(line, crlf):
			if length < 0 {
				return status, 0, fmt.Errorf("%w: no Content-Length", errRefused)
			}
			return status, length, nil
		case len(line) > len(lengthHeader) && bytes.EqualFold(line[:len(lengthHeader)], lengthHeader):
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(lengthHeader):]))); err != nil {
				return 0, 0, err
			}
		}
	}
}
