package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// What the host wrote down of the models' use, reported at the end of each turn. Claude Code keeps a transcript, a JSON
// object a line; hooks name its file.

const (
	maxTranscript = 32 << 20 // bytes read at once; the rest is read the next time
	maxUses       = 1000     // reports in one call
)

// said is a line of a transcript.
type said struct {
	Type      string   `json:"type"`
	Timestamp string   `json:"timestamp"`
	Cost      *float64 `json:"costUSD"` // older versions
	Message   struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage *struct {
			Input      int64 `json:"input_tokens"`
			Output     int64 `json:"output_tokens"`
			CacheRead  int64 `json:"cache_read_input_tokens"`
			CacheWrite int64 `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// used reports what the models used since the last time. Answers are named by the model's own ids, so what is reported
// twice is counted once.
func (g *Guard) used(ctx context.Context, api *client.AgentCoordinationClient, c Call) error {
	if c.Transcript == "" {
		return nil
	}
	mark := filepath.Join(g.State, "used-"+BlobID([]byte(g.Server + "\x00" + c.Transcript))[:16])
	from := int64(0)
	if raw, err := os.ReadFile(mark); err == nil {
		from, _ = strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64) // else from the beginning: nothing counts twice
	}
	list, to := usesIn(c.Transcript, from)
	for batch := range slices.Chunk(list, maxUses) {
		if _, err := api.ReportUsage(ctx, client.ReportUsage{Reports: batch}); err != nil {
			return err
		}
	}
	if to != from && os.MkdirAll(g.State, 0o700) == nil {
		_ = os.WriteFile(mark, []byte(strconv.FormatInt(to, 10)), 0o600) // else it is reported again
	}
	return nil
}

// usesIn reads the answers of models from a transcript, from an offset on, and returns the offset of what is still to
// come. An answer of several lines says the same in each; the last one counts. A transcript that cannot be read says
// nothing.
func usesIn(file string, from int64) ([]client.UsageReport, int64) {
	f, err := os.Open(file)
	if err != nil {
		return nil, from
	}
	defer func() { _ = f.Close() }() // only read
	if st, err := f.Stat(); err != nil || st.Size() < from {
		from = 0 // another file of that name
	}
	raw, err := io.ReadAll(io.NewSectionReader(f, from, maxTranscript))
	end := bytes.LastIndexByte(raw, '\n')
	if err != nil || end < 0 {
		return nil, from
	}
	var out []client.UsageReport
	at := map[string]int{}
	for line := range bytes.Lines(raw[:end+1]) {
		var s said
		if json.Unmarshal(line, &s) != nil || s.Type != "assistant" || s.Message.Usage == nil || s.Message.ID == "" || s.Message.Model == "<synthetic>" {
			continue
		}
		u := s.Message.Usage
		r := client.UsageReport{
			Key: "msg:" + cutRunes(s.Message.ID, 190), At: s.Timestamp, Model: s.Message.Model, Source: "hook", CostUSD: s.Cost,
			InputTokens: max(u.Input, 0), OutputTokens: max(u.Output, 0), CacheReadTokens: max(u.CacheRead, 0), CacheWriteTokens: max(u.CacheWrite, 0),
		}
		if i, again := at[r.Key]; again {
			out[i] = r
			continue
		}
		at[r.Key] = len(out)
		out = append(out, r)
	}
	return out, from + int64(end) + 1
}
