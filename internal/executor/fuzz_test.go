package executor_test

import (
	"bytes"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/executor"
)

// An invocation that is accepted can be worked on.
func FuzzReadInvocation(f *testing.F) {
	f.Add([]byte(`{"schema_version": "2.0", "mode": "start", "session_id": "ses_1", "prompt": "p", "project_dir": "/p", "agent_blueprint": {"name": "a", "mcp_servers": {"x": {"url": "u"}}}}`))
	f.Add([]byte(`{"schema_version": "2.1", "mode": "resume", "session_id": "ses_1", "prompt": "p", "executor_config": {"model": "m"}}`))
	f.Add([]byte(`{"schema_version": 2}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := executor.ReadInvocation(bytes.NewReader(raw))
		if err == nil && (in.SessionID == "" || in.Prompt == "" || in.Mode != executor.Start && in.Mode != executor.Resume) {
			t.Fatalf("accepted %+v", in)
		}
	})
}
