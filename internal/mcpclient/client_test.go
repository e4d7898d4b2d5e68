package mcpclient_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/agent-coordinator/agent-coordinator/internal/mcpclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a shell script that answers the handshake, then does what the test says.
func server(then string) *exec.Cmd {
	return exec.Command("sh", "-c", `
read line; echo '{"jsonrpc":"2.0","id":"1","result":{"serverInfo":{"name":"s","version":"2"}}}'
read line; `+then)
}

func TestCallDecodesTheStructuredAnswer(t *testing.T) {
	t.Parallel()
	c, err := mcpclient.Start(t.Context(), server(`read line
echo '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'
echo 'no JSON'
echo '{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"n":7}}}'
read line
echo '{"jsonrpc":"2.0","id":"3","result":{"isError":true,"content":[{"type":"text","text":"held by ana"}]}}'
read line
echo '{"jsonrpc":"2.0","id":"4","error":{"code":-32601,"message":"no"}}'
read line`), "test")
	if err != nil {
		t.Fatal(err)
	}
	if c.Server.Name != "s" || c.Server.Version != "2" {
		t.Errorf("it says it is %+v", c.Server)
	}
	var out struct{ N int }
	if err := c.Call(t.Context(), "one", nil, &out); err != nil || out.N != 7 {
		t.Errorf("%+v, %v", out, err)
	}
	var refused *mcpclient.ToolError
	if err := c.Call(t.Context(), "two", nil, nil); !errors.As(err, &refused) || refused.Text != "held by ana" {
		t.Errorf("got %v", err)
	}
	if _, err := c.Tools(t.Context()); err == nil || !strings.Contains(err.Error(), "-32601") {
		t.Errorf("got %v", err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAServerThatEndsFailsTheCall(t *testing.T) {
	t.Parallel()
	c, err := mcpclient.Start(t.Context(), server("read line; echo 'no database' >&2; exit 3"), "test")
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Tools(t.Context())
	if !errors.Is(err, mcpclient.ErrEnded) || !strings.Contains(err.Error(), "no database") {
		t.Errorf("got %v", err)
	}
	_ = c.Close(t.Context()) // its input is gone already
}

func TestAKilledServerFailsTheCall(t *testing.T) {
	t.Parallel()
	c, err := mcpclient.Start(t.Context(), server("exec cat >/dev/null"), "test")
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { failed <- c.Call(context.Background(), "x", nil, nil) }()
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("the call succeeded")
	}
}

func TestAServerThatDoesNotSpeakMCP(t *testing.T) {
	t.Parallel()
	if _, err := mcpclient.Start(t.Context(), exec.Command("true"), "test"); err == nil {
		t.Error("the handshake succeeded")
	}
	if _, err := mcpclient.Start(t.Context(), exec.Command("/nonexistent"), "test"); err == nil {
		t.Error("it started")
	}
}
