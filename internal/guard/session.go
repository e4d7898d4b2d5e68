package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// here is the working tree the agent works in; nil: no repository, nothing to coordinate.
func (g *Guard) here(ctx context.Context, c Call) (*worktree, error) {
	cwd := real(c.Cwd, false)
	return g.place(ctx, cwd, cwd)
}

// start opens the session and says what is going on.
func (g *Guard) start(ctx context.Context, c Call) (Decision, error) {
	w, err := g.here(ctx, c)
	if err != nil || w == nil {
		return Decision{}, err
	}
	var d Decision
	api, err := g.Dial(w.who(c.Session), func(n client.Notices) { d.Context = append(d.Context, newsOf(n)...) })
	if err != nil {
		return d, err
	}
	defer api.Close()
	b, err := api.SessionBrief(ctx, client.None{})
	if err != nil {
		return d, err
	}
	d.Context = append([]string{briefText(b)}, d.Context...)
	mind, err := g.inMind(ctx, api, c)
	if err != nil {
		return d, err
	}
	d.Context = append(d.Context, mind...)
	w.Seen = nil // what lies about from before is nobody's doing here
	if w.Repo.Git {
		if now, err := look(ctx, w.Root); err == nil {
			w.Seen = &seen{Dirty: now}
		}
	}
	w.save()
	g.takeUp(ctx, c)
	return d, nil
}

// news brings notices, and keeps the session's locks.
func (g *Guard) news(ctx context.Context, c Call) (Decision, error) {
	w, err := g.here(ctx, c)
	if err != nil || w == nil {
		return Decision{}, err
	}
	var d Decision
	api, err := g.Dial(w.who(c.Session), func(n client.Notices) { d.Context = append(d.Context, newsOf(n)...) })
	if err != nil {
		return d, err
	}
	defer api.Close()
	g.note(c, w.Root)
	if _, err = api.RenewLocks(ctx, client.RenewLocks{}); err != nil {
		return d, err
	}
	known, err := g.recallFor(ctx, api, c)
	d.Context = append(d.Context, known...)
	return d, err
}

// release gives back what hooks took; what the agent asked for itself it keeps. Then it keeps what the turn did.
func (g *Guard) release(ctx context.Context, c Call) error {
	w, err := g.here(ctx, c)
	if err != nil || w == nil {
		return err
	}
	api, err := g.Dial(w.who(c.Session))
	if err != nil {
		return err
	}
	defer api.Close()
	held, err := api.CheckLocks(ctx, client.CheckLocks{Limit: 10_000})
	if err != nil {
		return err
	}
	var paths []string
	for _, l := range held.Locks {
		if l.SessionID == c.Session && strings.HasPrefix(l.Reason, lockReason) && len(paths) < maxLockPaths {
			paths = append(paths, l.FilePath)
		}
	}
	if len(paths) > 0 {
		if _, err = api.ReleaseLock(ctx, client.ReleaseLock{FilePaths: paths}); err != nil {
			return err
		}
	}
	return errors.Join(g.used(ctx, api, c), g.turn(ctx, api, c, w.Root))
}

// end closes the session: what it learnt is kept, its locks are free, its tasks go back. What could not be kept within
// the time that hosts give is kept at the next session's start.
func (g *Guard) end(ctx context.Context, c Call) error {
	w, err := g.here(ctx, c)
	if err != nil || w == nil {
		return err
	}
	api, err := g.Dial(w.who(c.Session))
	if err != nil {
		return err
	}
	defer api.Close()
	var kept error
	if g.learns() {
		learning, cancel := context.WithTimeout(ctx, learnTime)
		if kept = g.conclude(learning, api, c.Session, g.spoolFile(c.Session)); learning.Err() != nil {
			kept = nil // the file is still there
		}
		cancel()
	}
	kept = errors.Join(kept, g.used(ctx, api, c))
	_, err = api.EndSession(ctx, client.EndSession{})
	return errors.Join(kept, err)
}

func newsOf(n client.Notices) []string {
	var out []string
	for _, x := range n.Notices {
		out = append(out, "News: "+x.Text)
	}
	if n.More > 0 {
		out = append(out, fmt.Sprintf("News: %d more wait (list_messages).", n.More))
	}
	return out
}

// briefText is the brief as an agent reads it.
func briefText(b client.Brief) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Agent Coordinator guards this repository (project %s). Edits of what others hold are refused. You are %s, session %s.\n", b.Project, b.AgentID, b.SessionID)
	for _, l := range b.OthersLocks {
		fmt.Fprintf(&s, "- held by %s: %s", l.LockedBy, l.FilePath)
		if l.Reason != "" {
			s.WriteString(" " + quote(l.Reason))
		}
		s.WriteString("\n")
	}
	if n := b.OthersLocksTotal - len(b.OthersLocks); n > 0 {
		fmt.Fprintf(&s, "- and %d more locks of others (check_locks)\n", n)
	}
	if b.Hold != "" {
		s.WriteString("- HELD: " + b.Hold + "\n")
	}
	for _, t := range b.MyTasks {
		fmt.Fprintf(&s, "- your task %s: %s\n", t.TaskID, quote(t.Description))
	}
	for _, t := range b.Ready {
		fmt.Fprintf(&s, "- ready to be claimed (get_work): %s\n", quote(t.Description))
	}
	for _, l := range b.Lessons {
		mark := ""
		if l.Stale {
			mark = " (its file changed since)"
		}
		s.WriteString("- learnt before: " + l.Text + mark + "\n")
	}
	for _, m := range b.Messages {
		s.WriteString("- message from " + m.From + ": " + m.Text + "\n")
	}
	if b.Handoff != nil {
		fmt.Fprintf(&s, "- handoff by %s: %s\n", b.Handoff.AgentName, quote(b.Handoff.Summary))
	}
	return strings.TrimSpace(s.String())
}
