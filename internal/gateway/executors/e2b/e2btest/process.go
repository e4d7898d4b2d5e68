package e2btest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
)

// process is a command in a sandbox; it lives on when nobody follows it.
type process struct {
	pid  uint32
	tag  string
	cmd  *exec.Cmd
	mu   sync.Mutex
	seen []map[string]any // data events, then the end
	over bool
	more chan struct{} // closed and replaced at every event
}

func (p *process) add(event map[string]any, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, event)
	p.over = p.over || last
	close(p.more)
	p.more = make(chan struct{})
}

// pipe turns what the command writes into events.
type pipe struct {
	p    *process
	name string
}

func (w pipe) Write(b []byte) (int, error) {
	w.p.add(map[string]any{"data": map[string]any{w.name: append([]byte(nil), b...)}}, false)
	return len(b), nil
}

// kill ends every command of the sandbox.
func (b *Box) kill() {
	for _, p := range b.processes {
		killGroup(p.cmd)
	}
}

type selector struct {
	PID uint32 `json:"pid"`
	Tag string `json:"tag"`
}

// process answers the calls of process.Process, in Connect's protocol.
func (f *Fake) process(w http.ResponseWriter, r *http.Request, b *Box) {
	stream := r.Header.Get("Content-Type") == "application/connect+json"
	body, err := io.ReadAll(r.Body)
	if err == nil && stream {
		if len(body) < 5 || int(binary.BigEndian.Uint32(body[1:5])) != len(body)-5 {
			err = errors.New("that is no envelope")
		} else {
			body = body[5:]
		}
	}
	if err != nil || r.Header.Get("Connect-Protocol-Version") != "1" {
		reply(w, http.StatusBadRequest, map[string]string{"code": "invalid_argument", "message": "no call of Connect's"})
		return
	}
	switch r.PathValue("method") {
	case "Start":
		f.start(w, r, b, body)
	case "Connect":
		var in struct{ Process selector }
		_ = json.Unmarshal(body, &in)
		if p := f.find(b, in.Process); p != nil {
			p.mu.Lock()
			from := len(p.seen)
			p.mu.Unlock()
			f.follow(w, r, b, p, from)
			return
		}
		trail(w, map[string]any{"error": map[string]string{"code": "not_found", "message": "process not found"}})
	case "List":
		f.ps(w, b)
	case "SendSignal":
		var in struct{ Process selector }
		_ = json.Unmarshal(body, &in)
		p := f.find(b, in.Process)
		if p == nil {
			reply(w, http.StatusNotFound, map[string]string{"code": "not_found", "message": "process not found"})
			return
		}
		killGroup(p.cmd)
		reply(w, http.StatusOK, map[string]any{})
	default:
		reply(w, http.StatusNotFound, map[string]string{"code": "unimplemented", "message": r.URL.Path})
	}
}

// find looks among the running processes alone, as envd does.
func (f *Fake) find(b *Box, by selector) *process {
	f.mu.Lock()
	defer f.mu.Unlock()
	for pid, p := range b.processes {
		p.mu.Lock()
		over := p.over
		p.mu.Unlock()
		if !over && (by.Tag != "" && p.tag == by.Tag || by.Tag == "" && pid == by.PID) {
			return p
		}
	}
	return nil
}

func (f *Fake) ps(w http.ResponseWriter, b *Box) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []map[string]any{}
	for pid, p := range b.processes {
		out = append(out, map[string]any{"pid": pid, "tag": p.tag, "config": map[string]any{"cmd": p.cmd.Path, "args": p.cmd.Args[1:]}})
	}
	reply(w, http.StatusOK, map[string]any{"processes": out})
}

func (f *Fake) start(w http.ResponseWriter, r *http.Request, b *Box, body []byte) {
	var in struct {
		Process struct {
			Cmd  string
			Args []string
			Envs map[string]string
			Cwd  string
		}
		Tag string
	}
	if err := json.Unmarshal(body, &in); err != nil || in.Process.Cmd == "" {
		trail(w, map[string]any{"error": map[string]string{"code": "invalid_argument", "message": "no command"}})
		return
	}
	p := &process{tag: in.Tag, more: make(chan struct{})}
	p.cmd = exec.Command(in.Process.Cmd, in.Process.Args...) //nolint:gosec // a test's own command
	p.cmd.Dir = b.place(in.Process.Cwd)
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.Dir, "USER=user"}
	for k, v := range b.EnvVars {
		p.cmd.Env = append(p.cmd.Env, k+"="+v)
	}
	for k, v := range in.Process.Envs {
		p.cmd.Env = append(p.cmd.Env, k+"="+v)
	}
	p.cmd.Stdout, p.cmd.Stderr = pipe{p, "stdout"}, pipe{p, "stderr"}
	ownGroup(p.cmd)
	if err := p.cmd.Start(); err != nil {
		trail(w, map[string]any{"error": map[string]string{"code": "invalid_argument", "message": err.Error()}})
		return
	}
	f.mu.Lock()
	b.nextPID++
	p.pid = b.nextPID
	b.processes[p.pid] = p
	b.Commands = append(b.Commands, in.Process.Args[len(in.Process.Args)-1])
	dies := f.Faults.DieAfter > 0 && len(b.Commands) >= f.Faults.DieAfter
	f.mu.Unlock()
	go func() {
		_ = p.cmd.Wait()
		end := map[string]any{"exited": p.cmd.ProcessState.Exited(), "status": p.cmd.ProcessState.String()}
		if code := p.cmd.ProcessState.ExitCode(); code > 0 { // 0 is left out, as the protocol's JSON does
			end["exitCode"] = code
		}
		p.add(map[string]any{"end": end}, true)
	}()
	if dies {
		f.mu.Lock()
		f.forget(b)
		f.mu.Unlock()
		abort(w)
	}
	f.follow(w, r, b, p, 0)
}

func envelope(w http.ResponseWriter, flag byte, message any) {
	body, _ := json.Marshal(message)
	_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(body))), body...)) //nolint:gosec // small
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
}

func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/connect+json")
	w.WriteHeader(http.StatusOK)
}

func trail(w http.ResponseWriter, message any) {
	begin(w)
	envelope(w, 2, message)
}

func abort(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// follow streams the process's events from one on until its end, or until the caller goes away.
func (f *Fake) follow(w http.ResponseWriter, r *http.Request, b *Box, p *process, from int) {
	begin(w)
	envelope(w, 0, map[string]any{"event": map[string]any{"start": map[string]any{"pid": p.pid}}})
	for {
		p.mu.Lock()
		events, over, more := p.seen[from:], p.over, p.more
		from = len(p.seen)
		p.mu.Unlock()
		for _, e := range events {
			_, isEnd := e["end"]
			f.mu.Lock()
			skip, cut, gone := isEnd && f.Faults.NoEnd, !isEnd && f.Faults.CutStream > 0, f.boxes[b.ID] == nil
			if cut {
				f.Faults.CutStream--
			}
			f.mu.Unlock()
			if gone {
				abort(w)
			}
			if !skip {
				envelope(w, 0, map[string]any{"event": e})
			}
			if cut {
				abort(w)
			}
		}
		if over {
			envelope(w, 2, map[string]any{})
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}
