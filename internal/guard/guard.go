package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/repo"
)

// Fail says what happens when the coordinator cannot be asked.
type Fail string

// The fail modes.
const (
	FailOpen   Fail = "open"   // the call goes on, loudly unchecked
	FailClosed Fail = "closed" // the call is refused
)

// Who is who a call to the coordinator acts for, and where. Acts: for this user's agent also without a session.
type Who struct {
	Session, Project, Repository string
	Acts                         bool
}

// Guard answers the hooks of one host.
type Guard struct {
	Fail   Fail
	State  string // folder of what is remembered between calls
	Server string // address of the coordinator; what is remembered holds for it only
	Getenv func(string) string
	// Dial returns a client that acts for who as the agent of this host and user, without notices in its replies
	// unless they go to told.
	Dial func(who Who, told ...func(client.Notices)) (*client.AgentCoordinationClient, error)
}

// Decision is what the hook answers, before it is put in the host's words.
type Decision struct {
	Deny    string   // why the call is refused; empty: it is not
	Ask     string   // why the person should decide about the call; empty: they need not
	Context []string // what the agent should read
	Person  string   // what the person should read
}

// ttlMinutes is how long a lock taken before an edit is kept unless renewed; every further edit renews it.
const ttlMinutes = 30

// lockReason marks locks that a hook took: those the end of a turn gives back.
const lockReason = "edited with "

// Handle answers one call.
func (g *Guard) Handle(ctx context.Context, c Call) Decision {
	var d Decision
	var err error
	switch c.Event {
	case BeforeTool:
		d, err = g.before(ctx, c)
	case AfterTool:
		g.note(c, rootOf(real(c.Cwd, false)))
		d, err = g.after(ctx, c)
	case SessionStart:
		d, err = g.start(ctx, c)
	case Prompt:
		d, err = g.news(ctx, c)
	case Stop:
		err = g.release(ctx, c)
	case SessionEnd:
		err = g.end(ctx, c)
	case Probe:
		d, err = g.probe(ctx)
	}
	if err != nil {
		return g.failed(c, d, err)
	}
	return d
}

// failed is the answer when the coordinator could not be asked.
func (g *Guard) failed(c Call, d Decision, err error) Decision {
	why := "the coordinator could not be asked (" + short(err) + ")"
	if c.Event != BeforeTool {
		d.Person = "Agent Coordinator: " + why + "; locks, messages and changes of this step were not looked at. `coordctl doctor` says more."
		return d
	}
	if g.Fail == FailClosed {
		return Decision{Deny: "Agent Coordinator refuses this edit because " + why + " and the guard is set to fail closed. Tell the person: `coordctl doctor` says more."}
	}
	d.Person = "Agent Coordinator: " + why + "; this edit was NOT checked against the locks of others (the guard fails open). `coordctl doctor` says more."
	d.Context = append(d.Context, d.Person)
	return d
}

// probe asks the coordinator who we are.
func (g *Guard) probe(ctx context.Context) (Decision, error) {
	api, err := g.Dial(Who{})
	if err != nil {
		return Decision{}, err
	}
	defer api.Close()
	if _, err := api.Whoami(ctx, client.None{}); err != nil {
		return Decision{}, err
	}
	return Decision{Person: fmt.Sprintf("the hook reaches %s and fails %s", g.Server, g.Fail)}, nil
}

func short(err error) string {
	var e *client.Error
	if errors.As(err, &e) {
		return e.What
	}
	text := err.Error()
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return text
}

// targets are the paths of one working tree that a call writes.
type targets struct {
	tree  *worktree
	paths []string // as locks know them
}

// targets sorts writes by the working tree they lie in. What lies in no repository is nobody's matter.
func (g *Guard) targets(ctx context.Context, c Call, writes []Write) ([]*targets, error) {
	var out []*targets
	for _, w := range writes {
		path := real(w.Path, w.Delete)
		tree, err := g.place(ctx, path, c.Cwd)
		if err != nil {
			return nil, err
		}
		if tree == nil || inGit(tree.Root, path) {
			continue
		}
		rel, err := tree.relative(ctx, path, w.Tree)
		var outside *repo.OutsideError
		if errors.As(err, &outside) {
			continue
		}
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(out, func(t *targets) bool { return t.tree.Root == tree.Root })
		if i < 0 {
			out, i = append(out, &targets{tree: tree}), len(out)
		}
		if !slices.Contains(out[i].paths, rel) {
			out[i].paths = append(out[i].paths, rel)
		}
	}
	return out, nil
}

// inGit reports whether path is git's own.
func inGit(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && (rel == ".git" || strings.HasPrefix(rel, ".git"+string(filepath.Separator)))
}

// before takes the locks of what the call writes, or refuses it.
func (g *Guard) before(ctx context.Context, c Call) (Decision, error) {
	read := c.Read(g.Getenv)
	danger, err := g.dangers(ctx, c, read)
	if err != nil || danger.Deny != "" {
		return danger, err
	}
	all, err := g.targets(ctx, c, read.Writes)
	if err != nil {
		return danger, err
	}
	for _, t := range all {
		if d, err := g.take(ctx, c, t); err != nil || d.Deny != "" {
			return d, err
		}
	}
	if !read.Unsure {
		return danger, nil
	}
	// What changed since the last look was not this call's doing.
	d, err := g.audit(ctx, c, true)
	d.Ask = danger.Ask
	d.Context = append(danger.Context, d.Context...)
	return d, err
}

// maxLockPaths is how many paths one call to the coordinator takes.
const maxLockPaths = 200

// take takes the locks of one working tree's paths. Of ignored files every working tree has its own: they are refused
// when somebody holds them, and not taken.
func (g *Guard) take(ctx context.Context, c Call, t *targets) (Decision, error) {
	api, err := g.Dial(t.tree.who(c.Session))
	if err != nil {
		return Decision{}, err
	}
	defer api.Close()
	skip := map[string]bool{}
	if c.shell() && t.tree.Repo.Git {
		skip = ignored(ctx, t.tree.Root, t.paths)
	}
	mine := slices.DeleteFunc(slices.Clone(t.paths), func(p string) bool { return skip[p] })
	for batch := range slices.Chunk(mine, maxLockPaths) {
		r, err := api.AcquireLock(ctx, client.AcquireLock{FilePaths: batch, TTLMinutes: ttlMinutes, Reason: lockReason + c.Tool})
		if err != nil {
			return Decision{}, err
		}
		if !r.Success {
			return Decision{Deny: g.refusal(ctx, api, r)}, nil
		}
	}
	return Decision{}, nil
}

// pausedReason is the coordinator's word for a lock that is refused because its agent is paused.
const pausedReason = "agent_paused"

// refusal says who holds what, how long, and what else there is to do.
func (g *Guard) refusal(ctx context.Context, api *client.AgentCoordinationClient, r client.LockResult) string {
	if r.Reason == pausedReason {
		return "Refused by Agent Coordinator: " + r.LockReason + ". Nothing was changed; " + r.Next + "."
	}
	var b strings.Builder
	b.WriteString("Refused by Agent Coordinator: ")
	b.WriteString(heldText(r.Conflicts, 3, true))
	if len(r.Conflicts) == 0 {
		b.WriteString("the path is held by " + r.LockedBy)
	}
	b.WriteString(". Nothing was changed. Do not write it another way.")
	if len(r.FreeNearby) > 0 {
		b.WriteString(" Free now: " + strings.Join(r.FreeNearby[:min(5, len(r.FreeNearby))], ", ") + ".")
	}
	if ready, err := api.ReadyWork(ctx, client.ReadyWork{Limit: 3}); err == nil && len(ready.Tasks) > 0 { // a courtesy
		var names []string
		for _, t := range ready.Tasks {
			names = append(names, quote(t.Description))
		}
		b.WriteString(" Other work that is ready: " + strings.Join(names, ", ") + " (get_work).")
	}
	b.WriteString(" Or wait in line with acquire_lock and wait_seconds, or ask the holder with send_message.")
	return b.String()
}

// heldText says who holds what, at most most of it; as: also under which path, where that is another.
func heldText(list []client.LockConflict, most int, as bool) string {
	var b strings.Builder
	for i, x := range list {
		if i == most {
			fmt.Fprintf(&b, "; and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(x.FilePath + " is held by " + x.LockedBy)
		if as && x.HeldPath != "" && x.HeldPath != x.FilePath {
			b.WriteString(" (as " + x.HeldPath + ")")
		}
		if x.Reason != "" {
			b.WriteString(", who says: " + quote(x.Reason))
		}
		if x.SecondsLeft > 0 {
			fmt.Fprintf(&b, ", %s left", minutes(x.SecondsLeft))
		}
	}
	return b.String()
}

func quote(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return `"` + s + `"`
}

func minutes(seconds int) string {
	if seconds < 90 {
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+30)/60)
}

// after reports what the call changed, keeps the session's locks, and brings news.
func (g *Guard) after(ctx context.Context, c Call) (Decision, error) {
	read := c.Read(g.Getenv)
	if read.Unsure {
		return g.audit(ctx, c, false)
	}
	all, err := g.targets(ctx, c, read.Writes)
	if err != nil {
		return Decision{}, err
	}
	var d Decision
	for _, t := range all {
		more, err := g.report(ctx, c, t.tree, t.paths, client.ReportChanges{})
		d.Context, d.Person = append(d.Context, more.Context...), more.Person
		if err != nil {
			return d, err
		}
		t.tree.refresh(ctx, c.Session)
	}
	return d, nil
}

// refresh looks at the tree again once what changed is known, if it was looked at before.
func (w *worktree) refresh(ctx context.Context, session string) {
	if w.Seen == nil || !w.Repo.Git {
		return
	}
	if now, err := look(ctx, w.Root); err == nil {
		w.Seen = &seen{At: time.Now(), Session: session, Dirty: now}
		w.save()
	}
}

// audit looks what changed in the agent's working tree since the last look, and reports it. before: the call has not
// begun, so the change is of whoever worked there last, or of another process.
func (g *Guard) audit(ctx context.Context, c Call, before bool) (Decision, error) {
	cwd := real(c.Cwd, false)
	w, err := g.place(ctx, cwd, cwd)
	if err != nil || w == nil || !w.Repo.Git {
		return Decision{}, err
	}
	now, err := look(ctx, w.Root)
	if err != nil {
		return Decision{}, err
	}
	last := w.Seen
	w.Seen = &seen{At: time.Now(), Session: c.Session, Dirty: now}
	if before && last != nil {
		w.Seen.Session = last.Session
	}
	w.save()
	if last == nil {
		return Decision{}, nil
	}
	paths := changed(w.Root, last.Dirty, now)
	if len(paths) == 0 {
		return Decision{}, nil
	}
	in := client.ReportChanges{}
	if before {
		in.Unknown = true
		if last.Session != "" {
			c.Session = last.Session
		}
	}
	return g.report(ctx, c, w, paths, in)
}

// report sends changed paths and says what it learnt.
func (g *Guard) report(ctx context.Context, c Call, w *worktree, paths []string, in client.ReportChanges) (Decision, error) {
	var d Decision
	api, err := g.Dial(w.who(c.Session), func(n client.Notices) { d.Context = append(d.Context, newsOf(n)...) })
	if err != nil {
		return d, err
	}
	defer api.Close()
	in.Tool, in.Command, in.Branch = c.Tool, c.command(), branchOf(w.Root)
	for batch := range slices.Chunk(paths, 1000) {
		in.Files = nil
		for _, p := range batch {
			in.Files = append(in.Files, reported(w.Root, p))
		}
		r, err := api.ReportChanges(ctx, in)
		if err != nil {
			return d, err
		}
		if len(r.Violations) > 0 && !in.Unknown {
			d.Context = append(d.Context, slipped(r.Violations))
			d.Person = "Agent Coordinator: " + slipped(r.Violations)
		}
	}
	if _, err := api.RenewLocks(ctx, client.RenewLocks{}); err != nil {
		return d, err
	}
	return d, nil
}

func slipped(list []client.LockConflict) string {
	var names []string
	for _, v := range list[:min(5, len(list))] {
		names = append(names, v.FilePath+" (held by "+v.LockedBy+")")
	}
	more := ""
	if n := len(list) - len(names); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "your last call changed what others hold: " + strings.Join(names, ", ") + more +
		". It was reported to them. Undo your change there, or agree with the holder by send_message, before you go on."
}

// command is the shell command of the call, shortened.
func (c Call) command() string {
	if !c.shell() {
		return ""
	}
	text := strings.Join(strings.Fields(string(c.Input)), " ")
	if r := []rune(text); len(r) > 250 {
		text = string(r[:250]) + "…"
	}
	return text
}
