package ops_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// here opens sessions.
func (w *world) here(agent string, sessions ...string) {
	w.t.Helper()
	for _, s := range sessions {
		must[client.Session](w, anyone, agent, s, "register_session", map[string]any{})
	}
}

func mailOf(list []client.Notice) []string {
	var out []string
	for _, n := range list {
		if n.Kind == "message" {
			out = append(out, n.Text)
		}
	}
	return out
}

func TestMessageReachesEveryOpenSessionOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "a1")
	w.here("bob", "b1", "b2")
	sent := must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": "look at a.go", "ack_required": true})
	if !sent.Success || sent.SessionsTold != 2 || !slices.Equal(sent.Recipients, []string{"bob"}) {
		t.Fatalf("%+v", sent)
	}
	for _, s := range []string{"b1", "b2"} {
		if got := mailOf(w.notices("bob", s)); len(got) != 1 || !strings.Contains(got[0], "note from ana: look at a.go") {
			t.Errorf("%s: %v", s, got)
		}
		if got := mailOf(w.notices("bob", s)); len(got) != 0 {
			t.Errorf("%s is told twice: %v", s, got)
		}
	}
	if got := mailOf(w.notices("bob", "b3")); len(got) != 0 {
		t.Errorf("a session opened after the delivery is told: %v", got)
	}
	if got := mailOf(w.notices("ana", "a1")); len(got) != 0 {
		t.Errorf("the sender is told: %v", got)
	}
	box := must[client.Messages](w, anyone, "bob", "b3", "list_messages", nil)
	if box.Count != 1 || !box.Messages[0].Unread || box.Unread != 0 || box.Messages[0].From != "ana" {
		t.Fatalf("inbox: %+v", box)
	}
	if again := must[client.Messages](w, anyone, "bob", "b3", "list_messages", nil); again.Count != 0 {
		t.Fatalf("read mail comes again: %+v", again)
	}
	ack := must[client.AckedMessages](w, anyone, "bob", "b3", "ack_message", map[string]any{"message_ids": []any{sent.MessageID}})
	if !ack.Success || len(ack.Acknowledged) != 1 {
		t.Fatalf("ack: %+v", ack)
	}
	if twice := must[client.AckedMessages](w, anyone, "bob", "b3", "ack_message", map[string]any{"message_ids": []any{sent.MessageID}}); !twice.Success || len(twice.Acknowledged) != 0 {
		t.Fatalf("ack twice: %+v", twice)
	}
	if n := w.notices("ana", "a1"); len(n) != 1 || n[0].Kind != "info" || !strings.Contains(n[0].Text, "bob acknowledged") {
		t.Fatalf("the sender is not told: %v", n)
	}
	out := must[client.Messages](w, anyone, "ana", "a1", "list_messages", map[string]any{"box": "sent"})
	if out.Count != 1 || out.Messages[0].Recipients[0].AckedAt == "" || out.Messages[0].Recipients[0].ReadAt == "" {
		t.Fatalf("sent: %+v", out)
	}
	if n := w.audited("send_message", true) + w.audited("ack_message", true); n != 2 {
		t.Errorf("%d audit rows, want 2", n)
	}
}

func TestMessageWaitsForTheNextSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "a1")
	w.here("bob", "b1")
	must[client.EndedSession](w, anyone, "bob", "b1", "end_session", nil)
	sent := must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": "one"})
	if sent.SessionsTold != 0 {
		t.Fatalf("%+v", sent)
	}
	if got := mailOf(w.notices("bob", "b2")); len(got) != 1 {
		t.Fatalf("the next session: %v", got)
	}
	if got := mailOf(w.notices("bob", "b3")); len(got) != 0 {
		t.Fatalf("the one after: %v", got)
	}
	// A session that never asks does not keep the message from the next one.
	w.here("bob", "silent")
	must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": "two"})
	if got := mailOf(w.notices("bob", "b4")); len(got) != 1 || !strings.Contains(got[0], "two") {
		t.Fatalf("behind a silent session: %v", got)
	}
}

func TestReadMailDoesNotNag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "a1")
	w.here("bob", "b1", "b2")
	must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": "short"})
	must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": strings.Repeat("long ", 100)})
	if peek := must[client.Messages](w, anyone, "bob", "b1", "list_messages", map[string]any{"peek": true}); peek.Count != 2 || peek.Unread != 2 {
		t.Fatalf("%+v", peek)
	}
	must[client.Messages](w, anyone, "bob", "b1", "list_messages", nil)
	for _, s := range []string{"b1", "b2", "b3"} {
		if got := mailOf(w.notices("bob", s)); len(got) != 0 {
			t.Errorf("%s is told of read mail: %v", s, got)
		}
	}
}

func TestUnknownRecipientIsRefusedWithAHint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "a1")
	w.here("codex-1", "c")
	_, err := do[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"codex_1"}, "text": "x"})
	f := w.refused(err, client.CodeInvalid)
	if f.Field != "to" || !strings.Contains(f.Next, "did you mean codex-1?") {
		t.Fatalf("%+v", f)
	}
	sent := must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"newcomer"}, "text": "x", "allow_unknown": true})
	if !slices.Equal(sent.UnknownRecipients, []string{"newcomer"}) {
		t.Fatalf("%+v", sent)
	}
	if got := mailOf(w.notices("newcomer", "")); len(got) != 1 {
		t.Fatalf("the newcomer: %v", got)
	}
	_, err = do[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{}, "text": "x"})
	w.refused(err, client.CodeInvalid)
	_, err = do[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"codex-1"}, "text": strings.Repeat("x", 4001)})
	w.refused(err, client.CodeInvalid)
	_, err = do[client.SentMessage](w, anyone, "person:ana", "", "send_message", map[string]any{"to": []any{"codex-1"}, "text": "x"})
	w.refused(err, client.CodeInvalid)
	if n := scan[int](w, `select count(*) from public.messages`); n != 1 {
		t.Fatalf("%d messages stored, want 1", n)
	}
}

func TestEverybodyAndReplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, a := range []string{"ana", "bob", "cyd"} {
		w.here(a, "s")
	}
	sent := must[client.SentMessage](w, anyone, "ana", "s", "send_message", map[string]any{"to": []any{"*"}, "text": "who has a.go?", "kind": "question"})
	if !slices.Equal(sent.Recipients, []string{"bob", "cyd"}) {
		t.Fatalf("%+v", sent)
	}
	reply := must[client.SentMessage](w, anyone, "bob", "s", "send_message", map[string]any{"text": "me", "reply_to": sent.MessageID})
	if reply.Thread != sent.Thread || !slices.Equal(reply.Recipients, []string{"ana"}) {
		t.Fatalf("%+v", reply)
	}
	if got := mailOf(w.notices("bob", "s")); len(got) != 0 {
		t.Fatalf("bob answered and is told all the same: %v", got)
	}
	if got := mailOf(w.notices("ana", "s")); len(got) != 1 || !strings.HasPrefix(got[0], "answer from bob: me") {
		t.Fatalf("%v", got)
	}
	if th := must[client.Messages](w, anyone, "cyd", "s", "list_messages", map[string]any{"box": "all", "thread": sent.Thread}); th.Count != 1 {
		t.Fatalf("%+v", th)
	}
}

func TestPersonsOutrankAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "a1")
	w.here("bob", "b1")
	eva := ident.Principal{Name: "person:eva", Person: "eva", Scopes: []ident.Scope{ident.Write}}
	must[client.CreatedPerson](w, admin, "", "", "create_person", map[string]any{"name": "eva", "roles": []any{"write"}})
	must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": "first", "urgency": "high"})
	must[client.SentMessage](w, eva, "", "", "send_message", map[string]any{"to": []any{"bob"}, "text": "stop"})
	box := must[client.Messages](w, anyone, "bob", "b1", "list_messages", map[string]any{"peek": true})
	if box.Count != 2 || box.Messages[0].From != "person:eva" || box.Messages[0].Urgency != "overseer" || box.Messages[0].FromKind != "person" {
		t.Fatalf("%+v", box)
	}
	if got := mailOf(w.notices("bob", "b1")); len(got) != 2 || !strings.HasPrefix(got[0], "overseer note from person:eva: stop") {
		t.Fatalf("%v", got)
	}
	must[client.SentMessage](w, anyone, "bob", "b1", "send_message", map[string]any{"text": "stopped", "reply_to": box.Messages[0].MessageID})
	if mine := must[client.Messages](w, eva, "", "", "list_messages", nil); mine.Count != 1 || mine.Messages[0].Text != "stopped" {
		t.Fatalf("%+v", mine)
	}
	_, err := do[client.SentMessage](w, anyone, "", "", "send_message", map[string]any{"to": []any{"bob"}, "text": "x"})
	w.refused(err, client.CodeInvalid)
}

// Ten sessions of one agent ask at the same time for fifteen messages that no session was open for: none is lost and no
// session gets one twice.
func TestDeliveryUnderConcurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "a1")
	for i := range 15 {
		must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": fmt.Sprintf("m%02d", i), "allow_unknown": true, "ack_required": true})
	}
	var mu sync.Mutex
	got := map[string]map[string]int{}
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			session := fmt.Sprintf("b%d", i)
			list := w.notices("bob", session)
			mu.Lock()
			defer mu.Unlock()
			got[session] = map[string]int{}
			for _, n := range list {
				got[session][n.Data["message_id"].(string)]++
			}
		})
	}
	wg.Wait()
	all := map[string]int{}
	for session, ids := range got {
		for id, n := range ids {
			if all[id]++; n != 1 {
				t.Errorf("%s was told %d times of one message", session, n)
			}
		}
	}
	if len(all) != 15 {
		t.Errorf("%d of 15 messages told", len(all))
	}
	for id, n := range all {
		if n != 1 {
			t.Errorf("%s was told to %d sessions that opened later, want 1", id, n)
		}
	}
}

func TestListMessagesWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("ana", "a1")
	w.here("bob", "b1")
	got := make(chan client.Messages, 1)
	go func() {
		got <- must[client.Messages](w, anyone, "bob", "b1", "list_messages", map[string]any{"wait_seconds": 20.0})
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for w.hub.Parked() == 0 {
		<-tick.C
	}
	start := time.Now()
	must[client.SentMessage](w, anyone, "ana", "a1", "send_message", map[string]any{"to": []any{"bob"}, "text": "now"})
	if m := <-got; m.Count != 1 || time.Since(start) > 2*time.Second {
		t.Fatalf("%+v after %s", m, time.Since(start))
	}
}

func TestHandoffs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.here("bob", "b1")
	wrote := must[client.WrittenHandoff](w, anyone, "ana", "never-registered", "write_handoff", map[string]any{
		"summary": "half done", "next_steps": []any{"test it", map[string]any{"step": "ship"}}, "relevant_files": []any{"a.go"}, "to": "bob",
	})
	if !wrote.Success {
		t.Fatalf("%+v", wrote)
	}
	if got := mailOf(w.notices("bob", "b1")); len(got) != 1 || !strings.Contains(got[0], "handoff from ana: half done") {
		t.Fatalf("%v", got)
	}
	must[client.HandoffReply](w, anyone, "cyd", "", "handoff", map[string]any{"action": "write", "summary": "newer", "decisions": []any{"use Go"}})
	read := must[client.Handoffs](w, anyone, "bob", "", "read_handoff", map[string]any{})
	if read.Count != 1 || !read.Truncated || read.Handoffs[0].Summary != "newer" || read.Handoffs[0].Decisions[0] != "use Go" {
		t.Fatalf("%+v", read)
	}
	read = must[client.Handoffs](w, anyone, "bob", "", "read_handoff", map[string]any{"agent_name": "ana", "limit": 5.0})
	if read.Count != 1 || read.Truncated || read.Handoffs[0].SessionID != "never-registered" || len(read.Handoffs[0].NextSteps) != 2 || read.Handoffs[0].CompletedWork == nil {
		t.Fatalf("%+v", read)
	}
	both := must[client.HandoffReply](w, anyone, "bob", "", "handoff", map[string]any{"action": "read", "limit": 2.0})
	if both.Count != 2 {
		t.Fatalf("%+v", both)
	}
	_, err := do[client.HandoffReply](w, anyone, "cyd", "", "handoff", map[string]any{"action": "write"})
	w.refused(err, client.CodeInvalid)
	if n := w.audited("write_handoff", true); n != 2 {
		t.Errorf("%d audit rows, want 2", n)
	}
	// Probing clients send an empty body: a 4xx that changes nothing.
	d := w.cat.Get("write_handoff")
	_, err = w.pipe.Call(t.Context(), d, op.Request{Principal: anyone, Door: "http", FromBody: true})
	w.refused(err, client.CodeInvalid)
}
