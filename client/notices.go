package client

// Notice is something a session must be told with its next reply.
type Notice struct {
	Kind string         `json:"kind" enum:"lock_lost,work_lost,message,task_ready,info" doc:"what happened"`
	Text string         `json:"text" doc:"one sentence, at most 300 bytes"`
	Data map[string]any `json:"data,omitempty" doc:"ids and names the sentence speaks of"`
	At   string         `json:"at" doc:"when, RFC 3339 UTC"`
}

// Notices are the oldest waiting notices of a session; More says how many are still waiting.
type Notices struct {
	Notices []Notice `json:"notices"`
	More    int      `json:"more,omitempty"`
}
