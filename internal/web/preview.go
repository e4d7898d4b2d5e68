package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// add says one more thing that will happen.
func (d *dialogData) add(icon, class, text string, args ...any) {
	if len(args) > 0 {
		text = fmt.Sprintf(text, args...)
	}
	d.Effects = append(d.Effects, effect{icon, class, text})
}

// cheap is how long a lock may last for waiting to be the cheaper way.
const cheap = 5 * time.Minute

// previewRelease says who loses the lock, what its token is worth then, and who is next.
func previewRelease(q *request, ids []string, d *dialogData) error {
	held, err := ask[client.Locks](q, "check_locks", map[string]any{"limit": 10_000})
	if err != nil {
		return err
	}
	waits, err := waitsOf(q)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if i == 3 {
			d.add("more", "", "And %d more.", len(ids)-3)
			break
		}
		path, by, _ := strings.Cut(id, "|")
		at := slices.IndexFunc(held.Locks, func(l client.Lock) bool { return l.FilePath == path && (by == "" || l.LockedBy == by) })
		if at < 0 {
			d.add("x", "is-error", "%s is not held any more: there is nothing to release.", path)
			continue
		}
		l := held.Locks[at]
		d.add("lock", "", "%s loses %s. It is told with its next call, with your reason.", l.LockedBy, l.FilePath)
		d.add("refresh", "", "Token %s is worth nothing from now on: a guarded write with it is refused.", l.FencingToken)
		next := slices.IndexFunc(waits, func(w client.LockWait) bool { return w.HeldPath == l.FilePath || w.FilePath == l.FilePath })
		if next >= 0 {
			d.add("arrow", "is-run", "%s gets it at once; it has waited since %s.", waits[next].AgentID, age(waits[next].Since, q.now))
		} else {
			d.add("arrow", "", "Nobody waits for it: it is simply free.")
		}
		if rest := parse(l.ExpiresAt).Sub(q.now); rest < cheap && len(ids) == 1 {
			d.add("clock", "is-needs", "A cheaper way: it runs out by itself in %s, unless it is renewed.", spanLong(max(rest, 0)))
		} else if len(ids) == 1 {
			d.add("msg", "", "A cheaper way: write to %s first. Work that is not committed stays in its working tree, without a lock.", l.LockedBy)
		}
	}
	return nil
}

// previewReleaseAll counts what an agent would lose.
func previewReleaseAll(q *request, ids []string, d *dialogData) error {
	held, err := ask[client.Locks](q, "check_locks", map[string]any{"locked_by": strings.Join(ids, ""), "limit": 1000})
	if err != nil {
		return err
	}
	waits, err := waitsOf(q)
	if err != nil {
		return err
	}
	if len(held.Locks) == 0 {
		d.add("x", "is-error", "It holds no lock: there is nothing to release.")
		return nil
	}
	var names []string
	waiting := 0
	for _, l := range held.Locks {
		if len(names) < 3 {
			names = append(names, l.FilePath)
		}
		for _, w := range waits {
			if w.HeldPath == l.FilePath {
				waiting++
			}
		}
	}
	d.add("lock", "", "%s released: %s%s.", number(len(held.Locks), "lock is", "locks are"), strings.Join(names, ", "), map[bool]string{true: " and more", false: ""}[len(held.Locks) > 3])
	d.add("arrow", "is-run", "%s.", number(waiting, "wait ends", "waits end"))
	d.add("file", "", "What it changed stays in its working tree, without a lock. It is told with its next call.")
	return nil
}

// releaseAll takes every lock of an agent away, one call each, so that each is audited with the reason.
func releaseAll(q *request, agent, reason string) (string, error) {
	held, err := ask[client.Locks](q, "check_locks", map[string]any{"locked_by": agent, "limit": 1000})
	if err != nil {
		return "", err
	}
	n := 0
	for _, l := range held.Locks {
		got, err := ask[client.ForceReleased](q, "force_release_lock", map[string]any{"file_path": l.FilePath, "locked_by": agent, "reason": reason})
		if err != nil {
			return "", err
		}
		n += got.Count
	}
	return number(n, "lock is", "locks are") + " free. " + agent + " is told.", nil
}

// previewVote says what is still missing and what a verdict sets free.
func previewVote(q *request, ids []string, d *dialogData) error {
	list, err := ask[client.ApprovalList](q, "list_approvals", map[string]any{"limit": 200})
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list.Approvals, func(a client.Approval) bool { return slices.Contains(ids, a.ApprovalID) })
	if at < 0 {
		d.About = ""
		d.add("x", "is-error", "It was decided already, or a new push voided the question.")
		return nil
	}
	a := list.Approvals[at]
	d.About = cmp.Or(a.Title, a.Branch) + " at " + short(a.HeadSHA)
	if d.Name == "approve" {
		if missing := a.RequiredCount - len(a.Votes); missing <= 1 {
			d.add("ok", "is-ok", "It is the last vote that is missing: the verdict of %s goes out.", short(a.HeadSHA))
		} else {
			d.add("wait", "", "%s missing after it.", number(missing-1, "vote is", "votes are"))
		}
	}
	change, err := ask[client.ChangesetDetail](q, "get_changeset", map[string]any{"changeset_id": a.ChangesetID})
	if err != nil || change.TaskID == "" {
		return err
	}
	names, err := behind(q, change.TaskID)
	if err != nil || len(names) == 0 {
		return err
	}
	word := map[bool]string{true: "may go on once the task is done", false: "stay blocked until the task is done"}[d.Name == "approve"]
	d.add("board", "", "%s %s.", strings.Join(names[:min(3, len(names))], ", "), word)
	return nil
}

// behind are the tasks that wait for one, by their descriptions.
func behind(q *request, id string) ([]string, error) {
	blocked, err := ask[client.Tasks](q, "list_work", map[string]any{"status": []any{"blocked"}, "limit": graphFrom})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range blocked.Tasks {
		if slices.Contains(t.DependsOn, id) {
			names = append(names, cut(t.Description, 40))
		}
	}
	return names, nil
}

// previewTasks names the tasks.
func previewTasks(q *request, ids []string, d *dialogData) error {
	var names []string
	for _, id := range ids[:min(3, len(ids))] {
		t, err := ask[client.TaskReply](q, "get_task", map[string]any{"task_id": id})
		if err != nil {
			return err
		}
		if t.Task == nil {
			d.add("x", "is-error", "%s is gone.", short(id))
			continue
		}
		names = append(names, cut(t.Task.Description, 60))
		if len(ids) == 1 {
			d.add(stateOf(t.Task.State).Icon, stateOf(t.Task.State).Class, "It is %s now, priority %d, attempt %d of %d.", strings.ToLower(stateOf(t.Task.State).Word), t.Task.Priority, t.Task.Attempt, t.Task.MaxAttempts)
		}
	}
	if d.About = strings.Join(names, ", "); len(ids) > 3 {
		d.About += fmt.Sprintf(", and %d more", len(ids)-3)
	}
	return nil
}

// previewCancel also says what is cancelled along with them.
func previewCancel(q *request, ids []string, d *dialogData) error {
	if err := previewTasks(q, ids, d); err != nil {
		return err
	}
	blocked, err := ask[client.Tasks](q, "list_work", map[string]any{"status": []any{"blocked"}, "limit": graphFrom})
	if err != nil {
		return err
	}
	known := map[string]client.Task{}
	for _, t := range blocked.Tasks {
		known[t.TaskID] = t
	}
	gone := map[string]bool{}
	for again := true; again; {
		again = false
		for id, t := range known {
			if !gone[id] && slices.ContainsFunc(t.DependsOn, func(dep string) bool { return slices.Contains(ids, dep) || gone[dep] }) {
				gone[id], again = true, true
			}
		}
	}
	if len(gone) > 0 {
		var names []string
		for id := range gone {
			names = append(names, cut(known[id].Description, 40))
		}
		slices.Sort(names)
		d.add("skip", "is-needs", "%s cancelled with it: %s%s.", number(len(gone), "task is", "tasks are"), strings.Join(names[:min(3, len(names))], ", "), map[bool]string{true: " and more", false: ""}[len(names) > 3])
	}
	return nil
}

// previewPriority begins with the present priority.
func previewPriority(q *request, ids []string, d *dialogData) error {
	if len(ids) == 1 && d.Fields[0].Value == actions["prioritise"].Fields[0].Value {
		if t, err := ask[client.TaskReply](q, "get_task", map[string]any{"task_id": ids[0]}); err == nil && t.Task != nil {
			d.Fields[0].Value = fmt.Sprint(t.Task.Priority)
		}
	}
	return previewTasks(q, ids, d)
}
