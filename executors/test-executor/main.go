// Command ao-test-exec is the test executor: it answers every prompt with an echo. Prompts that begin with "test:" make
// it misbehave, for tests of runners:
//
//	test:sleep 3s        waits before it answers
//	test:fail 7 text     writes text to stderr and exits with 7
//	test:flood 1000000   writes that many bytes to stdout and stderr first
//	test:hang            ignores SIGTERM and never ends
//	test:child           leaves a child that ignores SIGTERM, then hangs likewise
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-coordinator/agent-coordinator/internal/executor"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == hangArgument {
		hang(os.Stdout)
	}
	code, err := run(context.Background(), os.Stdin, os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ao-test-exec:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, in io.Reader, out, errOut io.Writer) (int, error) {
	inv, err := executor.ReadInvocation(in)
	if err != nil {
		return 1, err
	}
	gw, err := executor.NewGateway(os.Getenv("AGENT_ORCHESTRATOR_API_URL"), inv.SessionID)
	if err != nil {
		return 1, err
	}
	defer gw.Close()
	if err := begin(ctx, gw, inv); err != nil {
		return 1, err
	}
	if code, err := misbehave(inv.Prompt, out, errOut); code != 0 || err != nil {
		return code, err
	}
	reply := "[TEST-EXECUTOR] Received: " + inv.Prompt
	if err := errors.Join(
		gw.Message(ctx, "user", inv.Prompt),
		gw.Message(ctx, "assistant", reply),
		gw.Stopped(ctx, 0, "completed"),
	); err != nil {
		return 1, err
	}
	fmt.Fprintln(out, reply)
	return 0, nil
}

// begin binds a new session, or finds the one that is resumed.
func begin(ctx context.Context, gw *executor.Gateway, inv executor.Invocation) error {
	path, err := dataFile(inv.SessionID)
	if err != nil {
		return err
	}
	if inv.Mode == executor.Resume {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("session %s was not started by this executor", inv.SessionID)
		} else if err != nil {
			return err
		}
		return gw.Post(ctx, executor.Event{Type: "session_start"})
	}
	id := uuid()
	raw, err := json.Marshal(map[string]string{"session_id": inv.SessionID, "executor_session_id": id})
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return err
	}
	return gw.Bind(ctx, id, inv.ProjectDir)
}

// dataFile is where a session is remembered, beside the program.
func dataFile(session string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(self), ".test-executor-data")
	return filepath.Join(dir, filepath.Base(session)+".json"), os.MkdirAll(dir, 0o700)
}

// uuid is a random UUID (version 4).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
