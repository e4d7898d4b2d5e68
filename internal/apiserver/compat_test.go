package apiserver

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

// want is a set of members that a reply must have, with these values. anyValue: any but null.
type want map[string]any

type anyValueType struct{}

var anyValue anyValueType

func check(t *testing.T, what string, status int, body []byte, members want) map[string]any {
	t.Helper()
	var out map[string]any
	if status != 200 || json.Unmarshal(body, &out) != nil {
		t.Fatalf("%s: %d %s", what, status, body)
	}
	for k, v := range members {
		got, present := out[k]
		if !present || (v == anyValue) != (got != nil && v == anyValue) || v != anyValue && got != v {
			t.Errorf("%s: %s is %v, want %v: %s", what, k, got, v, body)
		}
	}
	return out
}

// TestBridgeClient replays what the bridge client of the newest upstream state sends, bodies verbatim.
func TestBridgeClient(t *testing.T) {
	t.Parallel()
	d := newDoor(t, start(t, configured(t, pgtest.DSN(t), nil)))
	post := func(what, path, body string, members want) map[string]any {
		t.Helper()
		status, out := d.send(t, "POST", path, []byte(body), "Content-Type", "application/json", "Accept", "application/json")
		return check(t, what, status, out, members)
	}
	post("lock", "/locks/acquire", `{"file_path": "src/main.py", "agent_id": "a1", "agent_type": "claude_code", "session_id": "s1", "reason": "edit", "ttl_minutes": 30}`,
		want{"success": true, "action": "acquired", "file_path": "src/main.py", "expires_at": anyValue})
	post("lock again", "/locks/acquire", `{"file_path": "src/main.py", "agent_id": "a1", "agent_type": "claude_code", "session_id": "s1", "reason": null, "ttl_minutes": 30}`,
		want{"success": true, "action": "refreshed"})
	post("held", "/locks/acquire", `{"file_path": "src/main.py", "agent_id": "a2", "agent_type": "codex", "session_id": null, "reason": null, "ttl_minutes": 30}`,
		want{"success": false, "action": "blocked", "reason": "locked_by_other", "locked_by": "a1", "lock_reason": "edit", "expires_at": anyValue})
	status, out := d.send(t, "GET", "/locks/status/src/main.py", nil)
	held := check(t, "status", status, out, want{"locked": true, "file_path": "src/main.py", "lock": anyValue})
	if lock, _ := held["lock"].(map[string]any); lock["locked_by"] != "a1" || lock["agent_type"] != "claude_code" || lock["locked_at"] == nil || lock["expires_at"] == nil {
		t.Errorf("lock: %v", held["lock"])
	}
	post("unlock another's", "/locks/release", `{"file_path": "src/main.py", "agent_id": "a2"}`, want{"success": false, "reason": "lock_not_found_or_not_owner"})
	post("unlock", "/locks/release", `{"file_path": "src/main.py", "agent_id": "a1"}`, want{"success": true, "action": "released", "released": true, "file_path": "src/main.py"})
	for _, path := range []string{"a,b.py", "x&y.py", "12345", "true"} { // each was misread upstream
		status, out := d.send(t, "GET", "/locks/status/"+url.PathEscape(path), nil)
		check(t, "status of "+path, status, out, want{"locked": false, "file_path": path})
	}

	// Submitting names no agent in the body: the bridge leaves that to the key.
	bound := newDoor(t, start(t, configured(t, pgtest.DSN(t), map[string]string{
		"COORDINATION_API_KEY_IDENTITIES": `{"` + testKey + `": {"agent_id": "b1", "agent_type": "claude_code"}}`,
	})))
	send := func(what, path, body string, members want) map[string]any {
		t.Helper()
		status, out := bound.send(t, "POST", path, []byte(body), "Content-Type", "application/json")
		return check(t, what, status, out, members)
	}
	send("no work", "/work/claim", `{"agent_id": "b1", "agent_type": "claude_code", "task_types": ["test"]}`, want{"success": false, "reason": "no_tasks_available", "task_id": nil})
	id := send("submit", "/work/submit", `{"task_type": "test", "task_description": "run the tests", "input_data": {"suite": "all"}, "priority": 3, "depends_on": null}`,
		want{"success": true, "task_id": anyValue})["task_id"]
	send("claim", "/work/claim", `{"agent_id": "b1", "agent_type": "claude_code", "task_types": null}`,
		want{"success": true, "task_id": id, "task_type": "test", "description": "run the tests", "task_description": "run the tests", "priority": 3.0, "input_data": anyValue})
	send("get", "/work/get", `{"task_id": "`+asText(id)+`"}`, want{"success": true, "task": anyValue})
	send("complete", "/work/complete", `{"task_id": "`+asText(id)+`", "agent_id": "b1", "success": true, "result": {"passed": 3}, "error_message": null}`,
		want{"success": true, "status": "completed", "task_id": id})
	send("get a stranger", "/work/get", `{"task_id": "00000000-0000-0000-0000-000000000000"}`, want{"success": false, "reason": "task_not_found"})
	send("complete a stranger", "/work/complete", `{"task_id": "00000000-0000-0000-0000-000000000000", "agent_id": "b1", "success": true, "result": null, "error_message": null}`,
		want{"success": false, "reason": anyValue})
	for path, body := range map[string]string{
		"/locks/acquire": `{"file_path": "x", "agent_id": "other", "agent_type": "claude_code"}`,
		"/work/claim":    `{"agent_id": "other", "agent_type": "claude_code"}`,
	} {
		if status, out := bound.send(t, "POST", path, []byte(body)); status != 403 || !json.Valid(out) {
			t.Errorf("%s as another agent: %d %s", path, status, out)
		}
	}
}

// TestFirstClients replays what clients of the seed send: task fields as query parameters of a POST.
func TestFirstClients(t *testing.T) {
	t.Parallel()
	d := newDoor(t, start(t, configured(t, pgtest.DSN(t), nil)))
	q := url.Values{"agent_id": {"a1"}, "task_type": {"review"}, "task_description": {"look at it, please"}, "priority": {"2"}}
	status, out := d.send(t, "POST", "/work/submit?"+q.Encode(), []byte(`{"input_data": {"n": 1}, "depends_on": []}`))
	id := check(t, "submit by query", status, out, want{"success": true, "task_id": anyValue})["task_id"]
	status, out = d.send(t, "POST", "/work/claim", []byte(`{"agent_id": "a2", "agent_type": "codex", "task_types": ["review"]}`))
	check(t, "claim", status, out, want{"success": true, "task_id": id, "task_description": "look at it, please", "priority": 2.0})
	status, out = d.send(t, "POST", "/work/complete", []byte(`{"task_id": "`+asText(id)+`", "agent_id": "a1", "success": true}`))
	check(t, "complete another's", status, out, want{"success": false})
	status, out = d.send(t, "POST", "/work/complete", []byte(`{"task_id": "`+asText(id)+`", "agent_id": "a2", "success": false, "error_message": "no"}`))
	check(t, "complete", status, out, want{"success": true, "status": "failed"})
	status, out = d.send(t, "POST", "/work/claim", []byte(`{}`), "X-Agent-Id", "a1")
	if status != 422 {
		t.Errorf("an empty claim: %d %s", status, out)
	}
}

func asText(v any) string {
	s, _ := v.(string)
	return s
}
