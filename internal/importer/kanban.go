package importer

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// VibeKanban reads one project's board from the database of vibe-kanban (db.sqlite in its data folder): the tasks, and in
// versions that keep issues those with their order. Errors: ErrNotThis, ErrWhichOne.
func VibeKanban(ctx context.Context, path, from string) (Found, error) {
	f := Found{Source: "vibe-kanban"}
	db, err := openSQLite(ctx, path, "projects", "tasks")
	if err != nil {
		return f, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	projects, err := rows(ctx, db, `select * from projects order by rowid`)
	if err != nil {
		return f, err
	}
	project, err := pick(projects, from, "name", "id", "git_repo_path")
	if err != nil {
		return f, err
	}
	issues, err := hasTable(ctx, db, "local_issues")
	if err != nil {
		return f, err
	}
	if issues {
		return f, f.issues(ctx, db, project)
	}
	return f, f.cards(ctx, db, project)
}

// cards reads the tasks of a board without issues.
func (f *Found) cards(ctx context.Context, db *sql.DB, project row) error {
	list, err := rows(ctx, db, `select rowid as at, * from tasks where project_id = ? order by created_at, rowid`, project["id"])
	if err != nil {
		return err
	}
	for _, r := range list {
		f.card(r, "tasks", r.text("id"), r.text("status"), nil)
	}
	f.settle(nil)
	return nil
}

// issues reads the newer tables, into which vibe-kanban copied its tasks.
func (f *Found) issues(ctx context.Context, db *sql.DB, project row) error {
	list, err := rows(ctx, db, `select i.rowid as at, i.*, s.name as status_name from local_issues i left join local_project_statuses s on s.id = i.status_id
		where i.project_id = ? order by i.created_at, i.rowid`, project["id"])
	if err != nil {
		return err
	}
	links, err := rows(ctx, db, `select r.* from local_issue_relationships r join local_issues i on i.id = r.issue_id where i.project_id = ?`, project["id"])
	if err != nil {
		return err
	}
	waits := map[string][]string{}
	for _, l := range links {
		if l.text("relationship_type") == "blocking" { // the first blocks the second
			waits[l.text("related_issue_id")] = append(waits[l.text("related_issue_id")], l.text("issue_id"))
			continue
		}
		f.left("links of the kind "+l.text("relationship_type"), "only what blocks becomes a dependency")
	}
	done := map[string]bool{}
	for _, r := range list {
		id := r.text("id")
		status := strings.ToLower(strings.ReplaceAll(r.text("status_name"), " ", ""))
		if status == "done" || status == "cancelled" {
			done[id] = true
		}
		f.card(r, "local_issues", id, status, waits[id])
	}
	f.settle(done)
	return nil
}

// card takes one card in: what is done as an experience, what is not as a task.
func (f *Found) card(r row, table, id, status string, waits []string) {
	where := fmt.Sprintf("%s row %s", table, r.text("at"))
	title := strings.TrimSpace(r.text("title"))
	if id == "" || title == "" {
		f.problem(where, "it has no id or no title")
		return
	}
	data := map[string]any{}
	for name := range r {
		if v := r.text(name); v != "" && name != "at" && name != "description" {
			data[name] = v
		}
	}
	switch status {
	case "done":
		f.Memories = append(f.Memories, Memory{
			Ref: id, EventType: "task_completed", Outcome: "success", Summary: cut(firstLine(title), 1000), Tags: []string{"vibe-kanban"},
			Details: map[string]any{"description": r.text("description"), "card": data}, CreatedAt: moment(cmp.Or(r.text("completed_at"), r.text("updated_at"))),
		})
		return
	case "cancelled":
		f.left("cancelled cards", "nobody is to work on them")
		return
	case "todo", "inprogress", "inreview", "backlog":
	default:
		f.problem(where, "%q has the status %q, which is not known; it is taken as to do", title, status)
	}
	priority, known := map[string]int{"": 5, "urgent": 1, "high": 3, "medium": 5, "low": 8}[r.text("priority")]
	if !known {
		f.problem(where, "%q has the priority %q, which is not known; it gets 5 of 10", title, r.text("priority"))
		priority = 5
	}
	text := title
	if d := strings.TrimSpace(r.text("description")); d != "" {
		text += "\n\n" + d
	}
	f.Tasks = append(f.Tasks, Task{Ref: id, Type: "task", Text: text, Priority: priority, DependsOn: waits, Labels: []string{"was:" + cmp.Or(status, "todo")}, Data: map[string]any{"card": data}, where: where})
}
