package e2b

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// envd is the daemon inside one sandbox.
type envd struct {
	http  *http.Client
	base  string
	id    string
	token string
}

const (
	envdPort    = "49983"
	maxEnvelope = 16 << 20
	flagEnd     = 2
)

// event is one message of a process's stream.
type event struct {
	Start *struct {
		PID uint32 `json:"pid"`
	} `json:"start"`
	Data *struct {
		Stdout []byte `json:"stdout"`
		Stderr []byte `json:"stderr"`
	} `json:"data"`
	End *processEnd `json:"end"`
}

// processEnd says how a process ended. A zero exit code is left out by the protocol's JSON, so only the presence of the
// whole event, with exited, says that it succeeded.
type processEnd struct {
	ExitCode int    `json:"exitCode"`
	Exited   bool   `json:"exited"`
	Status   string `json:"status"`
	Error    string `json:"error"`
}

var (
	// errCut: the stream ended before the process did, which says nothing of the process.
	errCut = errors.New("the stream ended before the command did")
	// errNoProcess: the daemon knows no such process.
	errNoProcess = errors.New("the sandbox does not know the command")
	// errGone: the sandbox has ended.
	errGone = errors.New("the sandbox is gone")
)

// start runs a command and follows it to its end.
func (d *envd) start(ctx context.Context, tag, script, dir string, envs map[string]string, out io.Writer) (processEnd, error) {
	if envs == nil {
		envs = map[string]string{}
	}
	return d.follow(ctx, "Start", map[string]any{
		"process": map[string]any{"cmd": "/bin/bash", "args": []string{"-l", "-c", script}, "envs": envs, "cwd": dir},
		"tag":     tag, "stdin": false,
	}, out)
}

// attach follows a command that runs already, found by its tag; what it printed before is not seen.
func (d *envd) attach(ctx context.Context, tag string, out io.Writer) (processEnd, error) {
	return d.follow(ctx, "Connect", map[string]any{"process": map[string]any{"tag": tag}}, out)
}

// follow makes a streaming call in Connect's protocol: envelopes of a flag, a length and JSON in both directions.
func (d *envd) follow(ctx context.Context, method string, message any, out io.Writer) (processEnd, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return processEnd{}, err
	}
	envelope := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body)))
	req, err := d.request(ctx, http.MethodPost, "/process.Process/"+method, bytes.NewReader(append(envelope, body...)))
	if err != nil {
		return processEnd{}, err
	}
	req.Header.Set("Content-Type", "application/connect+json")
	req.Header.Set("Connect-Protocol-Version", "1")
	req.Header.Set("Keepalive-Ping-Interval", "50")
	if deadline, ok := ctx.Deadline(); ok {
		req.Header.Set("Connect-Timeout-Ms", strconv.FormatInt(max(1, time.Until(deadline).Milliseconds()), 10))
	}
	res, err := d.http.Do(req)
	if err != nil {
		return processEnd{}, fmt.Errorf("%w: %w", errCut, err)
	}
	defer res.Body.Close()
	if err := answered(res); err != nil {
		return processEnd{}, err
	}
	return read(res.Body, out)
}

// read takes the stream's envelopes until the end event and the end of the stream.
func read(in io.Reader, out io.Writer) (processEnd, error) {
	var last *processEnd
	for {
		var head [5]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return ended(last, fmt.Errorf("%w: %w", errCut, err))
		}
		size := binary.BigEndian.Uint32(head[1:])
		if size > maxEnvelope {
			return processEnd{}, fmt.Errorf("%w: an envelope of %d bytes", errCut, size)
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(in, body); err != nil {
			return ended(last, fmt.Errorf("%w: %w", errCut, err))
		}
		if head[0]&flagEnd != 0 {
			return ended(last, trailer(body))
		}
		var message struct {
			Event event `json:"event"`
		}
		if err := json.Unmarshal(body, &message); err != nil {
			return processEnd{}, fmt.Errorf("%w: %w", errCut, err)
		}
		if data := message.Event.Data; data != nil {
			_, _ = out.Write(data.Stdout)
			_, _ = out.Write(data.Stderr)
		}
		if message.Event.End != nil {
			last = message.Event.End
		}
	}
}

// ended is the end event if there was one, whatever came of the stream after it.
func ended(last *processEnd, otherwise error) (processEnd, error) {
	if last == nil {
		return processEnd{}, otherwise
	}
	return *last, nil
}

// trailer reads the last envelope of a stream.
func trailer(body []byte) error {
	var t struct {
		Error *struct{ Code, Message string } `json:"error"`
	}
	if err := json.Unmarshal(body, &t); err != nil || t.Error == nil {
		return errCut
	}
	if t.Error.Code == "not_found" {
		return fmt.Errorf("%w: %s", errNoProcess, t.Error.Message)
	}
	return fmt.Errorf("%w: %s: %s", errCut, t.Error.Code, t.Error.Message)
}

// upload writes a file; a relative name is in the user's home.
func (d *envd) upload(ctx context.Context, name, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	req, err := d.request(ctx, http.MethodPost, "/files?"+url.Values{"path": {name}}.Encode(), f)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	res, err := d.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return answered(res)
}

func (d *envd) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, d.base+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("E2b-Sandbox-Id", d.id)
	req.Header.Set("E2b-Sandbox-Port", envdPort)
	if d.token != "" {
		req.Header.Set("X-Access-Token", d.token)
	}
	return req, nil
}

// answered reads what is not a success. A dead sandbox is the proxy's 502, not a 404.
func answered(res *http.Response) error {
	if res.StatusCode < 300 {
		return nil
	}
	raw, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
	err := &statusError{res.StatusCode, string(raw)}
	if res.StatusCode == http.StatusBadGateway {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return err
}
