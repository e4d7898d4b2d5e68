package githubevent

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-coordinator/agent-coordinator/internal/repo"
)

// wire is every payload at once: the members that we read, under GitHub's names. What differs between genuine payloads
// (dates, owners) has types that take every form seen.
type wire struct {
	Action string `json:"action"`

	Repository   *wireRepository `json:"repository"`
	Installation struct {
		ID      int64       `json:"id"`
		AppID   int64       `json:"app_id"`
		Account wireAccount `json:"account"`
	} `json:"installation"`
	Sender wireAccount `json:"sender"`

	// push
	Ref        string      `json:"ref"`
	Before     string      `json:"before"` // also pull_request.synchronize
	After      string      `json:"after"`
	Created    bool        `json:"created"`
	Deleted    bool        `json:"deleted"`
	Forced     bool        `json:"forced"`
	Compare    string      `json:"compare"`
	HeadCommit *wireCommit `json:"head_commit"`

	PullRequest *wirePull `json:"pull_request"`
	Number      int       `json:"number"`
	Changes     struct {
		Base *json.RawMessage `json:"base"`
	} `json:"changes"`
	Label *wireLabel `json:"label"`

	Issue   *wireIssue   `json:"issue"`
	Comment *wireComment `json:"comment"`
	Review  *wireReview  `json:"review"`

	CheckRun        *wireCheckRun   `json:"check_run"`
	CheckSuite      *wireCheckSuite `json:"check_suite"`
	RequestedAction struct {
		Identifier string `json:"identifier"`
	} `json:"requested_action"`

	WorkflowRun *wireWorkflowRun `json:"workflow_run"`
	WorkflowJob *wireWorkflowJob `json:"workflow_job"`
	MergeGroup  *wireMergeGroup  `json:"merge_group"`
	Reason      string           `json:"reason"` // merge_group.destroyed

	HookID int64 `json:"hook_id"`
	Hook   struct {
		Type   string   `json:"type"`
		Events []string `json:"events"`
		Active bool     `json:"active"`
	} `json:"hook"`

	Repositories        []wireRepository `json:"repositories"`
	RepositoriesAdded   []wireRepository `json:"repositories_added"`
	RepositoriesRemoved []wireRepository `json:"repositories_removed"`
}

type wireAccount struct {
	Login string `json:"login"`
	ID    int64  `json:"id"`
	Type  string `json:"type"`
}

func (a wireAccount) account() Account { return Account(a) }

type wireRepository struct {
	ID            int64    `json:"id"`
	FullName      string   `json:"full_name"`
	HTMLURL       string   `json:"html_url"`
	CloneURL      string   `json:"clone_url"`
	DefaultBranch string   `json:"default_branch"`
	Private       bool     `json:"private"`
	PushedAt      wireTime `json:"pushed_at"`
	UpdatedAt     wireTime `json:"updated_at"`
}

func (r *wireRepository) repository() Repository {
	if r == nil {
		return Repository{}
	}
	remote := repo.NormaliseRemote(r.HTMLURL)
	if remote == "" {
		remote = repo.NormaliseRemote(r.CloneURL)
	}
	return Repository{
		ID: r.ID, FullName: r.FullName, Remote: remote, HTMLURL: r.HTMLURL, CloneURL: r.CloneURL,
		DefaultBranch: r.DefaultBranch, Private: r.Private,
	}
}

type wireCommit struct {
	ID        string     `json:"id"`
	Message   string     `json:"message"`
	URL       string     `json:"url"`
	Author    wirePerson `json:"author"`
	Committer wirePerson `json:"committer"`
}

type wirePerson struct {
	Email    string `json:"email"`
	Username string `json:"username"`
}

type wireLabel struct {
	Name string `json:"name"`
}

type wireIssue struct {
	Number      int              `json:"number"`
	Title       string           `json:"title"`
	Body        string           `json:"body"`
	State       string           `json:"state"`
	HTMLURL     string           `json:"html_url"`
	UpdatedAt   wireTime         `json:"updated_at"`
	Labels      []wireLabel      `json:"labels"`
	PullRequest *json.RawMessage `json:"pull_request"`
}

type wireComment struct {
	ID          int64       `json:"id"`
	Body        string      `json:"body"`
	User        wireAccount `json:"user"`
	Association string      `json:"author_association"`
	HTMLURL     string      `json:"html_url"`
	CreatedAt   wireTime    `json:"created_at"`
}

type wireReview struct {
	ID          int64       `json:"id"`
	State       string      `json:"state"`
	CommitID    string      `json:"commit_id"`
	Body        string      `json:"body"`
	User        wireAccount `json:"user"`
	Association string      `json:"author_association"`
	SubmittedAt wireTime    `json:"submitted_at"`
}

type wirePull struct {
	Number      int         `json:"number"`
	Title       string      `json:"title"`
	Body        string      `json:"body"`
	State       string      `json:"state"`
	Draft       bool        `json:"draft"`
	Merged      bool        `json:"merged"`
	HTMLURL     string      `json:"html_url"`
	User        wireAccount `json:"user"`
	Association string      `json:"author_association"`
	Labels      []wireLabel `json:"labels"`
	UpdatedAt   wireTime    `json:"updated_at"`
	Head        wireEnd     `json:"head"`
	Base        wireEnd     `json:"base"`
}

// wireEnd is head or base of a pull request. Repo is null when the fork is gone.
type wireEnd struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo *struct {
		ID       int64  `json:"id"`
		FullName string `json:"full_name"`
	} `json:"repo"`
}

type wireCheckRun struct {
	ID         int64          `json:"id"`
	Name       string         `json:"name"`
	HeadSHA    string         `json:"head_sha"`
	ExternalID string         `json:"external_id"`
	CheckSuite wireCheckSuite `json:"check_suite"`
	App        struct {
		ID int64 `json:"id"`
	} `json:"app"`
}

type wireCheckSuite struct {
	HeadSHA    string   `json:"head_sha"`
	HeadBranch string   `json:"head_branch"`
	UpdatedAt  wireTime `json:"updated_at"`
	App        struct {
		ID int64 `json:"id"`
	} `json:"app"`
}

type wireWorkflowRun struct {
	ID           int64    `json:"id"`
	RunAttempt   int      `json:"run_attempt"`
	Name         string   `json:"name"`
	Path         string   `json:"path"`
	DisplayTitle string   `json:"display_title"`
	Event        string   `json:"event"`
	Status       string   `json:"status"`
	Conclusion   string   `json:"conclusion"`
	HeadSHA      string   `json:"head_sha"`
	HeadBranch   string   `json:"head_branch"`
	HTMLURL      string   `json:"html_url"`
	UpdatedAt    wireTime `json:"updated_at"`
}

type wireWorkflowJob struct {
	RunID        int64    `json:"run_id"`
	RunAttempt   int      `json:"run_attempt"`
	Name         string   `json:"name"`
	WorkflowName string   `json:"workflow_name"`
	Status       string   `json:"status"`
	Conclusion   string   `json:"conclusion"`
	HeadSHA      string   `json:"head_sha"`
	HeadBranch   string   `json:"head_branch"`
	HTMLURL      string   `json:"html_url"`
	StartedAt    wireTime `json:"started_at"`
	CompletedAt  wireTime `json:"completed_at"`
}

type wireMergeGroup struct {
	HeadSHA    string     `json:"head_sha"`
	HeadRef    string     `json:"head_ref"`
	BaseSHA    string     `json:"base_sha"`
	BaseRef    string     `json:"base_ref"`
	HeadCommit wireCommit `json:"head_commit"`
}

// wireTime is a date in any form that GitHub uses: RFC 3339, the same with a space and no zone, seconds since 1970. What
// it cannot read is the zero time: no date is worth losing an event for.
type wireTime struct{ time.Time }

// UnmarshalJSON never fails.
func (t *wireTime) UnmarshalJSON(raw []byte) error {
	t.Time = time.Time{}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04:05 MST", "2006-01-02T15:04:05"} {
			if at, err := time.Parse(layout, text); err == nil {
				t.Time = plausible(at)
				return nil
			}
		}
	}
	if seconds, err := strconv.ParseInt(string(bytes.TrimSpace(raw)), 10, 64); err == nil {
		t.Time = plausible(time.Unix(seconds, 0))
	}
	return nil
}

// plausible drops dates that no column or arithmetic of ours can hold.
func plausible(t time.Time) time.Time {
	if y := t.Year(); y < 1970 || y > 9999 {
		return time.Time{}
	}
	return t.UTC()
}

// decode reads a payload. Characters that no text column can hold are replaced before anybody sees them.
func decode(payload []byte) (*wire, error) {
	if bytes.Contains(payload, []byte(`\u0000`)) {
		payload = bytes.ReplaceAll(payload, []byte(`\u0000`), []byte(`\ufffd`))
	}
	var w wire
	if err := json.Unmarshal(payload, &w); err != nil {
		return nil, err
	}
	return &w, nil
}

// clip bounds a text to n bytes, at a character's end.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func names(labels []wireLabel) []string {
	out := make([]string, 0, len(labels))
	for _, l := range labels {
		out = append(out, clip(l.Name, 300))
	}
	return out
}
