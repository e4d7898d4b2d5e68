package coord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/recall"
	"github.com/agent-coordinator/agent-coordinator/internal/tokens"
)

// defaultBudget is the most tokens a working memory shows unless the caller says otherwise.
const defaultBudget = 8000

// Summariser shortens texts with a model. It may fail; the built-in shortening serves then.
type Summariser interface {
	Name() string
	// Summarise returns text in about limit tokens.
	Summarise(ctx context.Context, text string, limit int) (string, error)
}

// SummariseWith sets a model that shortens older items of working memories.
func (s *Store) SummariseWith(m Summariser) { s.minds.summariser = m }

// workingRow is a row of coord.lock_working.
type workingRow struct {
	ID          int64
	Type        string
	Content     string
	Pinned      bool
	Tokens      int
	Shown       *string
	ShownTokens int
}

// workingChange is what coord.update_working writes of an older item.
type workingChange struct {
	ID     int64  `json:"id"`
	Shown  string `json:"shown"`
	Tokens int    `json:"tokens"`
	By     string `json:"by"`
}

// workingItem is the new item as coord.update_working reads it.
type workingItem struct {
	Type        string  `json:"type"`
	Content     string  `json:"content"`
	Tokens      int     `json:"tokens"`
	Pinned      bool    `json:"pinned"`
	At          *string `json:"at,omitempty"`
	Shown       *string `json:"shown,omitempty"`
	ShownTokens int     `json:"shown_tokens"`
	By          string  `json:"by,omitempty"`
}

// UpdateWorking adds an item to the working memory of the caller's session and shortens older ones to the budget.
// Pinned items that would not fit are refused with reason over_budget. Error: invalid for an item over 256 KB.
func (s *Store) UpdateWorking(ctx context.Context, c ident.Caller, in client.WorkingUpdate) (client.WorkingUpdated, error) {
	text, err := textOf(in.ContextItem.Content)
	if err != nil {
		return client.WorkingUpdated{}, err
	}
	item := workingItem{Type: in.ContextItem.Type, Content: text, Tokens: tokens.Count(text), Pinned: in.ContextItem.Pinned, At: some(in.ContextItem.Timestamp)}
	budget := cmp.Or(in.TokenBudget, defaultBudget)
	// A model is asked before the session's memory is locked: it takes seconds. Items that turn out to need shortening
	// only under the lock are shortened by what is built in.
	short, notes := s.foresee(ctx, c, item, budget)
	out := client.WorkingUpdated{TokenBudget: budget, Notes: notes}
	err = s.InTx(ctx, func(ctx context.Context) error {
		rows, err := list[workingRow](ctx, s, `select * from coord.lock_working($1, $2)`, c.ProjectID, c.SessionID)
		if err != nil {
			return err
		}
		items := itemsOf(rows, item)
		changed, ok := recall.Fit(items, budget, tokens.Count, short)
		if !ok {
			out.Reason, out.Tokens = "over_budget", shownTokens(items)-item.Tokens
			return nil
		}
		return s.writeWorking(ctx, c, item, items, changed, &out)
	})
	return out, err
}

func (s *Store) writeWorking(ctx context.Context, c ident.Caller, item workingItem, items, changed []recall.Item, out *client.WorkingUpdated) error {
	item.ShownTokens = item.Tokens
	changes := []workingChange{}
	out.Tokens = shownTokens(items)
	for _, it := range changed {
		before := items[len(items)-1]
		if it.ID != 0 {
			changes = append(changes, workingChange{ID: it.ID, Shown: it.Shown, Tokens: it.ShownTokens, By: it.By})
			for _, old := range items {
				if old.ID == it.ID {
					before = old
				}
			}
		} else {
			item.Shown, item.ShownTokens, item.By = &it.Shown, it.ShownTokens, it.By
		}
		out.Tokens += it.ShownTokens - before.ShownTokens
		if out.CompressedBy == "" || it.By != recall.Extractive {
			out.CompressedBy = it.By
		}
	}
	out.Compressed = len(changed)
	itemDoc, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("encode item: %w", err)
	}
	changeDoc, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("encode changes: %w", err)
	}
	done, err := act[struct {
		Success bool  `json:"success"`
		ItemID  int64 `json:"item_id"`
	}](ctx, s, `select coord.update_working($1, $2, $3, $4, $5)`, c.ProjectID, c.SessionID, c.By, itemDoc, changeDoc)
	out.Success, out.ItemID = done.Success, done.ItemID
	return err
}

// foresee plans without the lock and has a model shorten what the plan shortens. Without a model it does nothing.
func (s *Store) foresee(ctx context.Context, c ident.Caller, item workingItem, budget int) (recall.Shorten, []string) {
	if s.minds.summariser == nil {
		return nil, nil
	}
	rows, err := list[workingRow](ctx, s, `select * from coord.lock_working($1, $2)`, c.ProjectID, c.SessionID)
	if err != nil {
		return nil, nil // the same read under the lock reports it
	}
	ready := map[int64]string{}
	var failed error
	name := s.minds.summariser.Name()
	plan := func(id int64, text string, limit int) (string, string) {
		if failed != nil {
			return "", ""
		}
		short, err := s.minds.summariser.Summarise(ctx, text, limit)
		if err != nil {
			failed = err
			return "", ""
		}
		ready[id] = short
		return short, name
	}
	recall.Fit(itemsOf(rows, item), budget, tokens.Count, plan)
	var notes []string
	if failed != nil {
		notes = append(notes, "the model could not shorten ("+failed.Error()+"); the built-in shortening was used")
	}
	return func(id int64, _ string, _ int) (string, string) {
		if short := ready[id]; short != "" {
			return short, name
		}
		return "", ""
	}, notes
}

func itemsOf(rows []workingRow, item workingItem) []recall.Item {
	items := make([]recall.Item, 0, len(rows)+1)
	for _, r := range rows {
		it := recall.Item{ID: r.ID, Text: r.Content, Shown: r.Content, Tokens: r.Tokens, ShownTokens: r.ShownTokens, Pinned: r.Pinned}
		if r.Shown != nil {
			it.Shown, it.By = *r.Shown, recall.Extractive
		}
		items = append(items, it)
	}
	return append(items, recall.Item{Text: item.Content, Shown: item.Content, Tokens: item.Tokens, ShownTokens: item.Tokens, Pinned: item.Pinned})
}

func shownTokens(items []recall.Item) int {
	n := 0
	for _, it := range items {
		n += it.ShownTokens
	}
	return n
}

// textOf is the text of an item's content.
func textOf(v any) (string, error) {
	text, ok := v.(string)
	if !ok {
		raw, err := json.Marshal(v)
		if err != nil || v == nil {
			return "", fault.Invalid("context_item.content", "an item needs content", "send a text or JSON")
		}
		text = string(raw)
	}
	switch {
	case text == "":
		return "", fault.Invalid("context_item.content", "an item needs content", "send a text or JSON")
	case len(text) > 256<<10:
		return "", fault.Invalid("context_item.content", "an item has at most 262144 bytes", "name the file instead of quoting it")
	}
	return text, nil
}

// GetWorking returns the working memory of the caller's session.
func (s *Store) GetWorking(ctx context.Context, c ident.Caller, in client.GetWorking) (client.Working, error) {
	return reply[client.Working](ctx, s, `select coord.get_working($1, $2, $3, $4)`, c.ProjectID, c.SessionID, in.Originals, cmp.Or(in.Limit, 1000))
}
