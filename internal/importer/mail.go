package importer

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// AgentMail reads one project's mailbox of mcp_agent_mail: its SQLite database, or the folder of files that it archives to
// (which may hold the database as storage.sqlite3, and then that is read). now decides which reservations are valid.
// Errors: ErrNotThis, ErrWhichOne.
func AgentMail(ctx context.Context, path, from string, now time.Time) (Found, error) {
	f := Found{Source: "mcp-agent-mail"}
	st, err := os.Stat(path)
	if err != nil {
		return f, fmt.Errorf("%w: %w", ErrNotThis, err)
	}
	if st.IsDir() {
		inside := filepath.Join(path, "storage.sqlite3")
		if _, err := os.Stat(inside); err != nil {
			return f, f.archive(path, from, now)
		}
		path = inside
	}
	db, err := openSQLite(ctx, path, "projects", "agents", "messages", "message_recipients")
	if err != nil {
		return f, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	projects, err := rows(ctx, db, `select * from projects order by id`)
	if err != nil {
		return f, err
	}
	project, err := pick(projects, from, "slug", "human_key", "id")
	if err != nil {
		return f, err
	}
	agents, err := f.mailAgents(ctx, db, project)
	if err != nil {
		return f, err
	}
	if err := f.mailMessages(ctx, db, project, agents); err != nil {
		return f, err
	}
	return f, f.mailLocks(ctx, db, project, agents, now)
}

// mailAgents lists the project's agents by id.
func (f *Found) mailAgents(ctx context.Context, db *sql.DB, project row) (map[string]row, error) {
	list, err := rows(ctx, db, `select * from agents where project_id = ? order by id`, project["id"])
	if err != nil {
		return nil, err
	}
	out := map[string]row{}
	for _, a := range list {
		out[a.text("id")] = a
		f.agent(a.text("name"))
	}
	return out, nil
}

func (f *Found) mailMessages(ctx context.Context, db *sql.DB, project row, agents map[string]row) error {
	list, err := rows(ctx, db, `select * from messages where project_id = ? order by id`, project["id"])
	if err != nil {
		return err
	}
	to, err := rows(ctx, db, `select r.*, a.name from message_recipients r join messages m on m.id = r.message_id left join agents a on a.id = r.agent_id
		where m.project_id = ? order by r.message_id, r.agent_id`, project["id"])
	if err != nil {
		return err
	}
	recipients, unread := map[string][]string{}, map[string][]string{}
	for _, r := range to {
		id, name := r.text("message_id"), r.text("name")
		if name == "" {
			f.problem("message_recipients of message "+id, "its agent %s is not there", r.text("agent_id"))
			continue
		}
		recipients[id] = append(recipients[id], name)
		if r.text("read_ts") == "" && r.text("ack_ts") == "" {
			unread[id] = append(unread[id], name)
		}
	}
	for _, m := range list {
		id := m.text("id")
		sender := agents[m.text("sender_id")].text("name")
		if sender == "" {
			f.problem("messages row "+id, "its sender %s is not there; it is kept without", m.text("sender_id"))
		}
		f.message(message{
			ID: id, Project: project.text("slug"), From: sender, To: recipients[id], Unread: unread[id], Subject: m.text("subject"), Body: m.text("body_md"),
			Thread: m.text("thread_id"), Importance: m.text("importance"), Ack: m.yes("ack_required"), Created: m.text("created_ts"),
		}, "messages row "+id)
	}
	return nil
}

// message is a message of either form.
type message struct {
	ID, Project, From, Subject, Body, Thread, Importance, Created string
	To, Unread                                                    []string
	Ack                                                           bool
}

// message takes one in: to be found again, and delivered where somebody has not read it.
func (f *Found) message(m message, where string) {
	if strings.TrimSpace(m.Subject+m.Body) == "" {
		f.problem(where, "it has neither subject nor text")
		return
	}
	for _, a := range append(slices.Clone(m.To), m.From) {
		f.agent(a)
	}
	ref := m.Project + "/" + m.ID
	created := moment(m.Created)
	if created == "" && m.Created != "" {
		f.problem(where, "its time %q is none; it is kept without", m.Created)
	}
	f.Memories = append(f.Memories, Memory{
		Ref: ref, EventType: "message", Summary: cut(clean(cmp.Or(strings.TrimSpace(m.Subject), firstLine(m.Body))), 1000), AgentID: m.From, CreatedAt: created,
		Tags:    unique([]string{"mcp-agent-mail", cut(m.Thread, 100)}),
		Details: map[string]any{"from": m.From, "to": m.To, "text": cut(clean(m.Body), 48<<10), "thread": m.Thread, "importance": m.Importance, "ack_required": m.Ack},
	})
	if len(m.Body) > 48<<10 {
		f.problem(where, "its text of %d KB was cut at 48 KB", len(m.Body)>>10)
	}
	if len(m.Unread) > 0 {
		head := fmt.Sprintf("From %s by mcp_agent_mail", cmp.Or(m.From, "somebody"))
		if len(created) >= 10 {
			head += ", " + created[:10]
		}
		f.Mail = append(f.Mail, Mail{
			Ref: ref, From: m.From, To: m.Unread, Text: cut(clean(head+": "+m.Subject+"\n\n"+m.Body), 4000), AckRequired: m.Ack,
			Urgent: m.Importance == "high" || m.Importance == "urgent", Thread: cut(clean(m.Thread), 200),
		})
	}
}

func (f *Found) mailLocks(ctx context.Context, db *sql.DB, project row, agents map[string]row, now time.Time) error {
	for _, table := range []string{"file_reservations", "claims"} { // the older name
		have, err := hasTable(ctx, db, table)
		if err != nil {
			return err
		}
		if !have {
			continue
		}
		list, err := rows(ctx, db, `select * from `+table+` where project_id = ? order by id`, project["id"])
		if err != nil {
			return err
		}
		for _, r := range list {
			a := agents[r.text("agent_id")]
			f.reservation(reservation{
				Agent: a.text("name"), Program: a.text("program"), Path: r.text("path_pattern"), Reason: r.text("reason"), Shared: !r.yes("exclusive"),
				Until: r.text("expires_ts"), Released: r.text("released_ts"),
			}, table+" row "+r.text("id"), now)
		}
		return nil
	}
	f.problem("the database", "it has no table of reservations")
	return nil
}

type reservation struct {
	Agent, Program, Path, Reason, Until, Released string
	Shared                                        bool
}

func (f *Found) reservation(r reservation, where string, now time.Time) {
	until, err := time.Parse(time.RFC3339Nano, moment(r.Until))
	switch {
	case r.Released != "":
		f.left("released reservations", "they are over")
	case r.Agent == "" || r.Path == "" || err != nil:
		f.problem(where, "it lacks an agent, a path or a time that can be read")
	case !until.After(now):
		f.left("expired reservations", "they are over")
	default:
		f.agent(r.Agent)
		f.Locks = append(f.Locks, Lock{Agent: r.Agent, Program: r.Program, Path: r.Path, Reason: cut(cmp.Or(r.Reason, "reserved with mcp_agent_mail"), 500), Shared: r.Shared, Until: until})
	}
}

// archive reads the files that mcp_agent_mail keeps beside its database: projects/<slug>/messages/<year>/<month>/*.md with
// JSON in front of the text, agents/*/profile.json, file_reservations/*.json. dir is the archive or one project of it.
func (f *Found) archive(dir, from string, now time.Time) error {
	root, err := archived(dir, from)
	if err != nil {
		return err
	}
	profiles, _ := filepath.Glob(filepath.Join(root, "agents", "*", "profile.json")) // the pattern is well formed
	programs := map[string]string{}
	for _, path := range profiles {
		var p struct{ Name, Program string }
		if f.readJSON(root, path, &p) {
			programs[p.Name] = p.Program
			f.agent(p.Name)
		}
	}
	err = filepath.WalkDir(filepath.Join(root, "messages"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == "threads" { // digests of what lies beside them
				return fs.SkipDir
			}
			return err
		}
		if strings.HasSuffix(path, ".md") {
			f.letter(root, path)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	held, _ := filepath.Glob(filepath.Join(root, "file_reservations", "*.json")) // as above
	seen := map[string]bool{}
	for _, path := range held {
		var r struct {
			ID        any    `json:"id"`
			Agent     string `json:"agent"`
			Path      string `json:"path_pattern"`
			Exclusive *bool  `json:"exclusive"`
			Reason    string `json:"reason"`
			Expires   string `json:"expires_ts"`
			Released  string `json:"released_ts"`
		}
		if !f.readJSON(root, path, &r) {
			continue
		}
		if id := fmt.Sprint(r.ID); r.ID != nil && seen[id] { // it lies there under two names
			continue
		} else if r.ID != nil {
			seen[id] = true
		}
		f.reservation(reservation{
			Agent: r.Agent, Program: programs[r.Agent], Path: r.Path, Reason: r.Reason, Shared: r.Exclusive != nil && !*r.Exclusive, Until: r.Expires, Released: r.Released,
		}, place(root, path), now)
	}
	if len(f.Memories) > 0 {
		f.left("who has read what", "the archive does not keep it, so no message is delivered again; the database does")
	}
	return nil
}

// archived finds the project's folder.
func archived(dir, from string) (string, error) {
	if st, err := os.Stat(filepath.Join(dir, "messages")); err == nil && st.IsDir() {
		return dir, nil
	}
	entries, err := os.ReadDir(filepath.Join(dir, "projects"))
	if err != nil {
		return "", fmt.Errorf("%w: %s holds neither storage.sqlite3 nor projects/ nor messages/", ErrNotThis, dir)
	}
	var list []row
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, row{"slug": e.Name()})
		}
	}
	p, err := pick(list, from, "slug")
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "projects", p.text("slug")), nil
}

func place(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

func (f *Found) readJSON(root, path string, into any) bool {
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		f.problem(place(root, path), "it cannot be read: %v", err)
	}
	return err == nil
}

// letter reads one message: "---json", an object, "---", the text.
func (f *Found) letter(root, path string) {
	where := place(root, path)
	raw, err := os.ReadFile(path)
	if err != nil {
		f.problem(where, "it cannot be read: %v", err)
		return
	}
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	head, ok := strings.CutPrefix(text, "---json\n")
	head, body, end := strings.Cut(head, "\n---\n")
	var m struct {
		ID         any      `json:"id"`
		Thread     string   `json:"thread_id"`
		From       string   `json:"from"`
		To         []string `json:"to"`
		CC         []string `json:"cc"`
		BCC        []string `json:"bcc"`
		Subject    string   `json:"subject"`
		Importance string   `json:"importance"`
		Ack        bool     `json:"ack_required"`
		Created    string   `json:"created"`
		CreatedTS  string   `json:"created_ts"`
	}
	if !ok || !end || json.Unmarshal([]byte(head), &m) != nil {
		f.problem(where, "it does not begin with the JSON that mcp_agent_mail writes")
		return
	}
	id := fmt.Sprint(m.ID)
	if m.ID == nil {
		id = where
	}
	f.message(message{
		ID: id, Project: filepath.Base(root), From: m.From, To: slices.Concat(m.To, m.CC, m.BCC), Subject: m.Subject, Body: strings.TrimSpace(body),
		Thread: m.Thread, Importance: m.Importance, Ack: m.Ack, Created: cmp.Or(m.Created, m.CreatedTS),
	}, where)
}
