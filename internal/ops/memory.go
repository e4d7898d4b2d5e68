package ops

import (
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
}
