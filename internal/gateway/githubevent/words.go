package githubevent

import (
	"regexp"
	"strings"
)

// The commands that a comment can hold.
const (
	CommandRerun    = "rerun"    // Argument: a tier or policy, "" for what did not pass
	CommandApprove  = "approve"  // Argument: a comment
	CommandDeny     = "deny"     // Argument: the reason
	CommandOverride = "override" // Argument: the reason, never empty
	CommandCancel   = "cancel"
)

// Command is a line of a comment that asks for something. Whether its author may is for the caller to find out.
type Command struct {
	Name     string
	Argument string // the rest of the line, at most 1000 bytes
}

// ParseCommand returns the command that a comment gives, or nil. A command is a line of its own that starts with a slash
// and stands outside quotes and code blocks; the first one counts. An override without a reason is none.
func ParseCommand(body string) *Command {
	fence := ""
	for line := range strings.Lines(body) {
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		if mark := fenceOf(line); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" || indented || !strings.HasPrefix(line, "/") {
			continue
		}
		name, argument, _ := strings.Cut(line[1:], " ")
		c := Command{Name: strings.ToLower(name), Argument: clip(strings.TrimSpace(argument), 1000)}
		switch c.Name {
		case CommandRerun, CommandApprove, CommandDeny, CommandCancel:
			return &c
		case CommandOverride:
			if c.Argument != "" {
				return &c
			}
		}
	}
	return nil
}

// fenceOf returns the run of backticks or tildes that opens or closes a code block on this line.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, mark))
		if n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// The labels and branches that coordinate work.
const (
	lockedPrefix = "locked:"
	agentPrefix  = "agent:"
	// LabelAssigned beside "agent:<id>" makes an issue a task of that agent.
	LabelAssigned = "status:assigned"
)

// LockedPaths returns the paths that labels such as "locked:src/auth" name.
func LockedPaths(labels []string) []string { return prefixed(labels, lockedPrefix) }

// AssignedAgents returns the agents that labels such as "agent:alice" name, if LabelAssigned is there too.
func AssignedAgents(labels []string) []string {
	for _, l := range labels {
		if strings.EqualFold(strings.TrimSpace(l), LabelAssigned) {
			return prefixed(labels, agentPrefix)
		}
	}
	return nil
}

func prefixed(labels []string, prefix string) []string {
	var out []string
	for _, l := range labels {
		l = strings.TrimSpace(l)
		if len(l) > len(prefix) && strings.EqualFold(l[:len(prefix)], prefix) {
			if rest := strings.TrimSpace(l[len(prefix):]); rest != "" {
				out = append(out, rest)
			}
		}
	}
	return out
}

var agentBranch = regexp.MustCompile(`^agent/([^/]+)/([^/]+)$`)

// AgentBranch reads "agent/<agent_id>/<task_id>". A name proves nothing: anybody who can push can choose it.
func AgentBranch(branch string) (agent, task string, ok bool) {
	m := agentBranch.FindStringSubmatch(branch)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], true
}
