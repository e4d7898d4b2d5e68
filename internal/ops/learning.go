package ops

import (
	"context"
	"fmt"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/coord"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

const (
	taskMemoryTokens  = 300 // of the memories that come with a claimed task
	briefMemoryTokens = 150 // of those in a session brief
)

// action is what an operation does.
type action[In, Out any] func(context.Context, ident.Caller, In) (Out, error)

// knowing adds to a claimed task what earlier agents learned about it. The claim stands whatever happens here: a failure
// is told in the reply.
func knowing(s *coord.Store, claim action[client.GetWork, client.Work]) action[client.GetWork, client.Work] {
	return func(ctx context.Context, c ident.Caller, in client.GetWork) (client.Work, error) {
		out, err := claim(ctx, c, in)
		if err != nil || !out.Success || out.TaskID == nil {
			return out, err
		}
		out.Memories, err = s.RelatedMemories(ctx, c, out.TaskType+" "+out.Description, out.Files, taskMemoryTokens)
		if err != nil {
			out.MemoryNote = "memories could not be read; recall may have some"
		}
		return out, nil
	}
}

// learning records the end of a task as an experience, and the use of its skill. Under a request key both are one
// transaction with the end itself; without, the end stands whatever happens here.
func learning(s *coord.Store, complete action[client.CompleteWork, client.TaskChange]) action[client.CompleteWork, client.TaskChange] {
	return func(ctx context.Context, c ident.Caller, in client.CompleteWork) (client.TaskChange, error) {
		out, err := complete(ctx, c, in)
		if err != nil || !out.Success || out.Replayed {
			return out, err
		}
		id, err := s.RememberTask(ctx, c, in, out.Status)
		if err != nil && c.RequestKey != "" {
			return out, err
		}
		if out.MemoryID = id; err != nil {
			out.MemoryNote = "the task is ended; what it taught was not recorded: " + err.Error()
		}
		return out, nil
	}
}

// lessonsFor are the lessons that concern what a session has at hand: its locks and its tasks. Where there are none, they
// are the latest ones and the skills that work best.
func lessonsFor(ctx context.Context, s *coord.Store, c ident.Caller, b client.Brief) []client.BriefLesson {
	var paths []string
	text := ""
	for _, l := range b.MyLocks {
		paths = append(paths, l.FilePath)
	}
	for _, t := range b.MyTasks {
		text += t.TaskType + " " + t.Description + "\n"
	}
	memories, err := s.RelatedMemories(ctx, c, text, paths, briefMemoryTokens)
	if err != nil {
		return []client.BriefLesson{{Text: "lessons could not be read; recall may have some"}}
	}
	var skills []client.Skill
	if len(memories) == 0 {
		if memories, skills, err = s.LatestMemories(ctx, c); err != nil {
			return []client.BriefLesson{{Text: "lessons could not be read; recall may have some"}}
		}
	}
	out := make([]client.BriefLesson, 0, len(memories)+len(skills))
	for _, k := range skills {
		out = append(out, client.BriefLesson{MemoryID: k.SkillID, Text: cut(fmt.Sprintf("skill: %s (worked %d of %d times)", k.SkillName, k.Successes, k.Uses), 200)})
	}
	for _, m := range memories {
		l := client.BriefLesson{MemoryID: m.MemoryID, Stale: m.Stale}
		l.Text, _ = m.Content["summary"].(string)
		if name, ok := m.Content["skill_name"].(string); ok {
			l.Text = "skill: " + name
		}
		l.Text = cut(l.Text, 200)
		if lessons, ok := m.Content["lessons"].([]string); ok && len(lessons) > 0 {
			l.Text += " → " + cut(lessons[0], 150)
		}
		out = append(out, l)
	}
	return out
}
