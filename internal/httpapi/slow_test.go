package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestConnectionsAreReusedAfterEveryAnswer: an error must not leave a connection in a state where the next request on
// it is misread.
func TestConnectionsAreReusedAfterEveryAnswer(t *testing.T) {
	t.Parallel()
	url, _, _ := serve(t, newWorld().door(nil))
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	ask := func(head, body string, want int) {
		t.Helper()
		fmt.Fprintf(c, "POST /echo HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Length: %d\r\n\r\n%s", head, len(body), body)
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s %s: %d, want %d", head, body, resp.StatusCode, want)
		}
	}
	ask("X-API-Key: good", `{"agent_id":"a"}`, 200)
	ask("X-API-Key: nope", `{"agent_id":"a"}`, 401) // the body is not read by the handler
	ask("X-API-Key: good", `{`, 422)
	ask("X-API-Key: good\r\nContent-Encoding: br", `{"agent_id":"a"}`, 415)
	ask("X-API-Key: good", `{"agent_id":"a"}`, 200)
}

// TestABodyThatNeverComes: a client that promises a body and leaves gets no call done.
func TestABodyThatNeverComes(t *testing.T) {
	t.Parallel()
	url, _, _ := serve(t, newWorld().door(nil))
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nContent-Length: 100\r\n\r\n{\"agent_id\":")
	if tcp, ok := c.(*net.TCPConn); !ok || tcp.CloseWrite() != nil {
		t.Fatal("half of the connection could not be closed")
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 422 {
		t.Errorf("%d", resp.StatusCode)
	}
}
