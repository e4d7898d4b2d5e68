package ops

import (
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// memory declares what agents remember and find again.
func memory(c *op.Catalogue, d Deps) {
	s := d.Store
	op.Register(c, op.Op[client.Remember, client.Remembered]{
		Name: "remember", Title: "Remember", Text: "Stores an experience for every agent of the project: an error and its fix, a decision, a lesson. " +
			"The same summary again within an hour is merged. Bound to a file and a digest, it is marked stale when the file changes.",
		Routes: []op.Route{{Method: "POST", Path: "/memory/store"}, {Method: "POST", Path: "/memory/episodic/store"}}, Scope: ident.Write, Acts: true,
		Tool: op.Tool{Profile: op.Core, Text: "Keep what others should know: fixes, decisions, lessons."},
		CLI:  "memory store", RefuseEmpty: true, Do: s.Remember,
	})
	op.Register(c, op.Op[client.Recall, client.Recalled]{
		Name: "recall", Title: "Recall", Text: "Finds what agents of this project remembered, and skills, by relevance. Without words, tags and paths: the newest. " +
			"nothing_relevant means that it looked and found nothing; a failure is an error.",
		Routes: []op.Route{{Method: "POST", Path: "/memory/query"}, {Method: "GET", Path: "/memory/query"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Core, ReadOnly: true, Text: "What earlier agents learned about this."},
		CLI:  "memory search", Do: s.Recall,
	})
	workingMemory(c, d)
	skills(c, d)
	memoryUpkeep(c, d)
}

// workingMemory declares what a session has in mind.
func workingMemory(c *op.Catalogue, d Deps) {
	s := d.Store
	op.Register(c, op.Op[client.WorkingUpdate, client.WorkingUpdated]{
		Name: "working_update", Title: "Update the working memory", Text: "Adds an item to what the session has in mind. Over the token budget older items are shortened; " +
			"pinned and recent ones stay whole, and every original stays readable.",
		Routes: []op.Route{{Method: "POST", Path: "/memory/working/update"}}, Scope: ident.Write, Acts: true, RefuseEmpty: true,
		Tool: op.Tool{Profile: op.Full}, CLI: "memory working add", Timeout: 60 * time.Second, Do: s.UpdateWorking,
	})
	op.Register(c, op.Op[client.GetWorking, client.Working]{
		Name: "working_get", Title: "Get the working memory", Text: "What the session has in mind, oldest first, within its token budget.",
		Routes: []op.Route{{Method: "GET", Path: "/memory/working"}}, Scope: ident.Read, Acts: true,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "memory working show", Do: s.GetWorking,
	})
}

// skills declares procedural memory.
func skills(c *op.Catalogue, d Deps) {
	s := d.Store
	op.Register(c, op.Op[client.StoreSkill, client.StoredSkill]{
		Name: "skill_store", Title: "Store a skill", Text: "Keeps how something is done, as steps; the same name again changes it. recall finds it beside experiences.",
		Routes: []op.Route{{Method: "POST", Path: "/memory/procedural/store"}}, Scope: ident.Write, Acts: true, RefuseEmpty: true,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, CLI: "memory skill store", Do: s.StoreSkill,
	})
	op.Register(c, op.Op[client.RecordSkillUse, client.UsedSkill]{
		Name: "skill_use", Title: "Record the use of a skill", Text: "Counts whether a skill worked. Skills are ranked by the mean of that: (successes + 1) / (uses + 2).",
		Routes: []op.Route{{Method: "POST", Path: "/memory/procedural/record-use"}}, Scope: ident.Write,
		Tool: op.Tool{Profile: op.Full}, CLI: "memory skill used", RefuseEmpty: true, Do: s.RecordSkillUse,
	})
	op.Register(c, op.Op[client.ListSkills, client.Skills]{
		Name: "list_skills", Title: "List skills", Text: "Skills of the project, those that work best first.",
		Routes: []op.Route{{Method: "GET", Path: "/memory/procedural"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "memory skill list", Do: s.ListSkills,
	})
}

// memoryUpkeep declares what keeps memories true and in order.
func memoryUpkeep(c *op.Catalogue, d Deps) {
	s := d.Store
	op.Register(c, op.Op[client.ReportDigests, client.ReportedDigests]{
		Name: "report_digests", Title: "Report digests", Text: "Tells what files are like now: memories bound to another content of them become stale, those of this content fresh again.",
		Routes: []op.Route{{Method: "POST", Path: "/memory/digests"}}, Scope: ident.Write, RefuseEmpty: true,
		Tool: op.Tool{Profile: op.Full, Idempotent: true}, CLI: "memory digests", Do: s.ReportDigests,
	})
	op.Register(c, op.Op[client.GetMemory, client.Memory]{
		Name: "memory_get", Title: "Get a memory", Text: "One memory or skill by its id.",
		Routes: []op.Route{{Method: "GET", Path: "/memory/item/:memory_id"}}, Scope: ident.Read,
		Tool: op.Tool{Profile: op.Full, ReadOnly: true}, CLI: "memory show", Do: s.GetMemory,
	})
	op.Register(c, op.Op[client.ForgetMemory, client.ForgottenMemory]{
		Name: "memory_forget", Title: "Forget memories", Text: "Deletes memories for good; the audit trail keeps the ids and the reason. An agent forgets what it remembered itself, a reviewer anything.",
		Routes: []op.Route{{Method: "POST", Path: "/memory/forget"}}, Scope: ident.Write, RefuseEmpty: true,
		Tool: op.Tool{Profile: op.Full, Destructive: true, Idempotent: true}, CLI: "memory forget", Do: s.ForgetMemory,
	})
	op.Register(c, op.Op[client.ExportMemory, client.ExportedMemory]{
		Name: "memory_export", Title: "Export memories", Text: "Memories and skills as Markdown to read or as JSON lines to import elsewhere, page by page, oldest first.",
		Routes: []op.Route{{Method: "GET", Path: "/memory/export"}}, Scope: ident.Read, CLI: "memory export", Do: s.ExportMemory,
	})
	op.Register(c, op.Op[client.ImportMemory, client.ImportedMemory]{
		Name: "memory_import", Title: "Import memories", Text: "Takes in JSON lines as memory_export writes them, all or nothing; what is there already is left alone.",
		Routes: []op.Route{{Method: "POST", Path: "/memory/import"}}, Scope: ident.Write, Acts: true, RefuseEmpty: true,
		CLI: "memory import", Timeout: 2 * time.Minute, Do: s.ImportMemory,
	})
	op.Register(c, op.Op[client.MemoryRetention, client.MemoryPolicies]{
		Name: "memory_retention", Title: "Retention of memories", Text: "Shows after how many days each layer is archived and deleted; with layer it sets that one.",
		Routes: []op.Route{{Method: "POST", Path: "/memory/retention"}}, Scope: ident.Admin, CLI: "memory retention", Do: s.MemoryRetention,
	})
}
