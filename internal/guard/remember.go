package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agent-coordinator/agent-coordinator/client"
)

const (
	learnTime    = 1200 * time.Millisecond // of a hook at the end of a session: hosts wait little for those
	episodesRead = 20                      // earlier sessions that are looked at for what is done again and again
	maxSkills    = 5                       // a session's
	recallLimit  = 3
	recallTokens = 250
)

// turn puts what happened since the last turn into the session's working memory, and the fixes among it into the
// project's memory. Everything carries a request key made of the session and the step, so that it happens once.
func (g *Guard) turn(ctx context.Context, api *client.AgentCoordinationClient, c Call, root string) error {
	if !g.learns() || c.Session == "" {
		return nil
	}
	steps, err := readSpool(g.spoolFile(c.Session))
	if err != nil {
		return err
	}
	if err := keep(ctx, api, c.Session, steps, true); err != nil {
		return err
	}
	if slices.ContainsFunc(steps[keptUpto(steps):], func(s step) bool { return s.Kind != stepKept }) {
		g.append(c.Session, root, []step{{Kind: stepKept, Upto: len(steps)}})
	}
	return nil
}

// keep stores what the steps after the last kept one tell.
func keep(ctx context.Context, api *client.AgentCoordinationClient, session string, steps []step, working bool) error {
	from := keptUpto(steps)
	if from >= len(steps) {
		return nil
	}
	if text := turnText(steps[from:]); working && text != "" {
		if _, err := api.WorkingUpdate(client.WithRequestKey(ctx, requestKey("turn", session, from)), client.WorkingUpdate{ContextItem: client.WorkingItem{Type: "turn", Content: text}}); err != nil {
			return err
		}
	}
	l := learn(steps)
	for i, fix := range l.fixes {
		if l.at[i] < from {
			continue
		}
		if _, err := api.Remember(client.WithRequestKey(ctx, requestKey("fix", session, l.at[i])), fix); err != nil {
			return err
		}
	}
	return nil
}

// requestKey makes a step of a session happen once, however often it is sent.
func requestKey(what, session string, n int) string {
	return fmt.Sprintf("hook-%s-%s-%d", what, oneLine(session, 150), n)
}

// turnText says in a few lines what a turn did.
func turnText(steps []step) string {
	l := learn(steps)
	var lines []string
	say := func(what string, list []string) {
		if len(list) > 0 {
			lines = append(lines, what+": "+strings.Join(list, "; "))
		}
	}
	say("asked", l.asked)
	say("changed", l.edited)
	say("worked", l.ran)
	for _, f := range l.failing {
		lines = append(lines, "fails: "+f.Text+" ("+f.Error+")")
	}
	return strings.Join(lines, "\n")
}

// conclude turns a session that ends into an experience, and what it did as earlier sessions did into skills. It reads
// the session's working memory and the earlier sessions' experiences for that. What cannot be stored now stays in its
// file for the next session's start.
func (g *Guard) conclude(ctx context.Context, api *client.AgentCoordinationClient, session, file string) error {
	steps, err := readSpool(file)
	if err != nil || len(steps) == 0 {
		return err
	}
	working := g.spoolFile(session) == file
	if err := keep(ctx, api, session, steps, working); err != nil {
		return err
	}
	l := learn(steps)
	if len(l.edited)+len(l.ran)+len(l.failing) == 0 {
		return removeFile(file)
	}
	turns := 0
	if working {
		mind, err := api.WorkingGet(ctx, client.GetWorking{Limit: 50})
		if err != nil {
			return err
		}
		turns = mind.Count
		for _, item := range mind.Items { // what the agent noted by itself belongs to the story as well
			if item.Type != "turn" {
				l.asked = add(l.asked, oneLine(redact(item.Type+": "+item.Content), maxAsked), 8)
			}
		}
	}
	before, err := api.Recall(ctx, client.Recall{EventType: "session", Limit: episodesRead})
	if err != nil {
		return err
	}
	if err := practise(ctx, api, l, before.Memories); err != nil {
		return err
	}
	if _, err := api.Remember(client.WithRequestKey(ctx, requestKey("session", session, len(steps))), episode(session, l, turns)); err != nil {
		return err
	}
	return removeFile(file)
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget what is in the memory now: %w", err)
	}
	return nil
}

// episode is a session as an experience.
func episode(session string, l learnt, turns int) client.Remember {
	r := client.Remember{EventType: "session", Outcome: "success", Tags: []string{"hooks"}, Details: map[string]any{"turns": turns}}
	var parts []string
	if len(l.asked) > 0 {
		parts = append(parts, "asked: "+l.asked[0])
		r.Details["asked"] = l.asked
	}
	if len(l.edited) > 0 {
		parts = append(parts, "changed "+strings.Join(l.edited[:min(5, len(l.edited))], ", "))
		r.Details["changed"] = l.edited
	}
	if len(l.ran) > 0 {
		parts = append(parts, "ran "+strings.Join(l.ran[:min(3, len(l.ran))], ", "))
		r.Details["ran"] = l.ran
	}
	for _, f := range l.failing[:min(3, len(l.failing))] {
		r.Outcome = "failure"
		r.Lessons = append(r.Lessons, "`"+f.Text+"` still failed at the end: "+f.Error)
	}
	// The same summary within an hour would be merged; two sessions are two.
	r.Summary = oneLine("session "+shortID(session)+" "+strings.Join(parts, "; "), 600)
	return r
}

func shortID(session string) string {
	if len(session) > 8 {
		return session[:8]
	}
	return session
}

// practise makes skills of what worked in this session and in an earlier one: the command, and before it what both ran
// before it. Each use is counted, failed ones too.
func practise(ctx context.Context, api *client.AgentCoordinationClient, l learnt, earlier []client.Memory) error {
	have, err := api.ListSkills(ctx, client.ListSkills{Tags: []string{"hooks"}, Limit: 200})
	if err != nil {
		return err
	}
	known := map[string]client.Skill{}
	for _, s := range have.Skills {
		known[s.SkillName] = s
	}
	made := 0
	for i := len(l.ran) - 1; i >= 0; i-- { // the last ones are what the others were for
		name := skillName(l.ran[i])
		id := known[name].SkillID
		if steps := common(l.ran[:i+1], earlier); steps != nil && made < maxSkills && len(known) < 100 {
			made++
			stored, err := api.SkillStore(ctx, client.StoreSkill{
				Name: name, Steps: steps, Tags: []string{"hooks", strings.Fields(aim(l.ran[i]))[0]},
				Description: "What sessions ran again and again, in this order; it worked.",
			})
			if err != nil {
				return err
			}
			id = stored.SkillID
		}
		if id == "" {
			continue
		}
		if _, err := api.SkillUse(ctx, client.RecordSkillUse{SkillID: id, Success: true}); err != nil {
			return err
		}
	}
	for _, f := range l.failing {
		if s, ok := known[skillName(f.Text)]; ok {
			if _, err := api.SkillUse(ctx, client.RecordSkillUse{SkillID: s.SkillID, Success: false}); err != nil {
				return err
			}
		}
	}
	return nil
}

func skillName(command string) string { return oneLine("run "+command, 190) }

// common is the last of ran with those before it that an earlier session ran before it, too; nil: no earlier one ran it.
func common(ran []string, earlier []client.Memory) []any {
	goal := ran[len(ran)-1]
	for _, m := range earlier {
		list, _ := m.Details["ran"].([]any)
		at := slices.IndexFunc(list, func(v any) bool { return v == goal })
		if at < 0 {
			continue
		}
		var steps []any
		for _, command := range ran[:len(ran)-1] {
			if slices.ContainsFunc(list[:at], func(v any) bool { return v == command }) {
				steps = append(steps, command)
			}
		}
		return append(steps, goal)
	}
	return nil
}

// recallFor is what earlier sessions learnt about what the person asks, once a session each.
func (g *Guard) recallFor(ctx context.Context, api *client.AgentCoordinationClient, c Call) ([]string, error) {
	if !g.learns() || len(strings.Fields(c.Prompt)) < 3 {
		return nil, nil
	}
	r, err := api.Recall(ctx, client.Recall{TaskDescription: oneLine(c.Prompt, 2000), Limit: recallLimit, TokenBudget: recallTokens, MinRelevance: .2})
	if err != nil || r.NothingRelevant || r.LowConfidence {
		return nil, err
	}
	var out []string
	for _, m := range r.Memories {
		text := m.Summary
		if name, ok := m.Content["skill_name"].(string); ok {
			text = "skill: " + name
		}
		if len(m.Lessons) > 0 {
			text += " → " + m.Lessons[0]
		}
		if m.Stale {
			text += " (its file changed since)"
		}
		if text != "" {
			out = append(out, "Learnt before: "+oneLine(text, 400))
		}
	}
	return out, nil
}

// inMind is what the session had in mind before its context was shortened or it was taken up again.
func (g *Guard) inMind(ctx context.Context, api *client.AgentCoordinationClient, c Call) ([]string, error) {
	if !g.learns() || c.Source != "compact" && c.Source != "resume" {
		return nil, nil
	}
	mind, err := api.WorkingGet(ctx, client.GetWorking{Limit: 10})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range mind.Items {
		out = append(out, "In mind from before: "+oneLine(item.Content, 500))
	}
	return out, nil
}

// takeUp concludes sessions of this machine that ended without saying so. The current session stores what they learnt.
func (g *Guard) takeUp(ctx context.Context, c Call) {
	if !g.learns() {
		return
	}
	for _, file := range g.leftOver(g.spoolFile(c.Session)) {
		steps, err := readSpool(file)
		if err != nil || len(steps) == 0 {
			_ = os.Remove(file) // it holds nothing
			continue
		}
		taken := file + ".taken" // by one hook only
		if os.Rename(file, taken) != nil {
			continue
		}
		if err := g.takeUpOne(ctx, c, steps[0], taken); err != nil {
			_ = os.Rename(taken, file) // the next session tries again
		}
	}
}

func (g *Guard) takeUpOne(ctx context.Context, c Call, first step, file string) error {
	w, err := g.place(ctx, first.Root, first.Root)
	if err != nil {
		return err
	}
	if w == nil { // the working tree is gone, and so is whom it would teach
		return removeFile(file)
	}
	api, err := g.Dial(w.who(c.Session))
	if err != nil {
		return err
	}
	defer api.Close()
	return g.conclude(ctx, api, first.Session, file)
}
