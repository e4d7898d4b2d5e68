package mcpapi

import (
	"strings"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// MaxInstructions is the budget of the server instructions in bytes. Hosts that defer tools show the model nothing
// else at first, so they name the tools and when to call them.
const MaxInstructions = 1200

// instructionLines are said when every operation they need is in the catalogue.
var instructionLines = []struct{ needs, text string }{
	{"", "Several agents work on this code at the same time. These tools keep them from overwriting each other and from doing the same work twice. Your identity and session are known; send no ids for yourself.\n"},
	{"session_brief", "- session_brief: call first. Who is active, what is locked, what is yours, what is ready.\n"},
	{"acquire_lock", "- acquire_lock: BEFORE you create or edit any file. Paths, directories or globs, all or nothing. success:false means that another agent has it: work elsewhere, or wait with wait_seconds. Never edit a path you could not lock.\n"},
	{"release_lock", "- release_lock: as soon as the edit is done and committed.\n"},
	{"check_locks", "- check_locks: who holds what, without taking it.\n"},
	{"get_work", "- get_work: take the next task.\n"},
	{"complete_work", "- complete_work: report its result, good or bad.\n"},
	{"submit_changes", "- submit_changes: verify a pushed commit; then verification_status.\n"},
	{"submit_work", "- submit_work: put a task in the queue for any agent.\n"},
	{"handoff", "- handoff: leave notes when you stop half-way.\n"},
	{"send_message", "- send_message: tell another agent something.\n"},
	{"recall", "- recall: what others learned, before a task; remember: after.\n"},
	{"", "Locks and tasks are renewed while you are connected and given back when you leave. Read `notices` in any result: a lock lost, a message, a task ready. Code `unavailable` means \"cannot tell\": stop editing and retry."},
}

func instructions(cat *op.Catalogue) string {
	var b strings.Builder
	for _, l := range instructionLines {
		if l.needs == "" || cat.Get(l.needs) != nil && Listed(cat.Get(l.needs), false) {
			b.WriteString(l.text)
		}
	}
	return b.String()
}
