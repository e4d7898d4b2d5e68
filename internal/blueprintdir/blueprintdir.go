// Package blueprintdir reads and writes agents' blueprints and capabilities as the directories that people edit and
// keep under version control:
//
//	agents/<name>/agent.json              name, description; skills, tags, capabilities, demands
//	agents/<name>/agent.system-prompt.md  the prompt
//	agents/<name>/agent.mcp.json          {"mcpServers": {name: server}}
//	agents/<name>/.disabled               its presence: inactive
//	capabilities/<name>/capability.json, capability.text.md, capability.mcp.json
//
// The folder of capabilities lies beside the one of agents. A directory that does not hold a valid one is skipped and
// named in Read's second result; it never hides the others. Files above 1 MiB are refused.
package blueprintdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"

	"github.com/agent-coordinator/agent-coordinator/client"
)

// Set is what a directory holds.
type Set struct {
	Agents       []Agent
	Capabilities []client.CreateCapability
}

// Agent is a blueprint with its switch.
type Agent struct {
	client.CreateAgent
	Inactive bool
}

const maxFile = 1 << 20 // bytes

var nameRule = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,59}$`)

// Read reads the agents in dir and the capabilities beside it, by name. skipped names what is none, with the reason. A
// dir that does not exist holds nothing.
func Read(dir string) (set Set, skipped []error, err error) {
	agents, err := names(dir)
	if err != nil {
		return set, nil, err
	}
	for _, name := range agents {
		a, err := readAgent(filepath.Join(dir, name), name)
		if err != nil {
			skipped = append(skipped, fmt.Errorf("agent %s: %w", name, err))
			continue
		}
		set.Agents = append(set.Agents, a)
	}
	beside := Capabilities(dir)
	capabilities, err := names(beside)
	if err != nil {
		return set, skipped, err
	}
	for _, name := range capabilities {
		c, err := readCapability(filepath.Join(beside, name), name)
		if err != nil {
			skipped = append(skipped, fmt.Errorf("capability %s: %w", name, err))
			continue
		}
		set.Capabilities = append(set.Capabilities, c)
	}
	return set, skipped, nil
}

// Capabilities is the folder of capabilities that belongs to a folder of agents.
func Capabilities(agents string) string {
	return filepath.Join(filepath.Dir(filepath.Clean(agents)), "capabilities")
}

// names lists the directories in dir whose names may be blueprints', sorted.
func names(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && nameRule.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	sort.Strings(out)
	return out, nil
}

func readAgent(dir, name string) (Agent, error) {
	var a Agent
	if err := readJSON(filepath.Join(dir, "agent.json"), &a.CreateAgent, true); err != nil {
		return a, err
	}
	if a.Name != name || a.Description == "" {
		return a, fmt.Errorf("agent.json needs a description and the name %q", name)
	}
	prompt, err := readText(filepath.Join(dir, "agent.system-prompt.md"))
	if err != nil {
		return a, err
	}
	a.SystemPrompt = prompt
	if a.MCPServers, err = readServers(filepath.Join(dir, "agent.mcp.json")); err != nil {
		return a, err
	}
	_, err = os.Stat(filepath.Join(dir, ".disabled"))
	a.Inactive = err == nil
	return a, nil
}

func readCapability(dir, name string) (client.CreateCapability, error) {
	var c client.CreateCapability
	if err := readJSON(filepath.Join(dir, "capability.json"), &c, true); err != nil {
		return c, err
	}
	if c.Name != name || c.Description == "" {
		return c, fmt.Errorf("capability.json needs a description and the name %q", name)
	}
	var err error
	if c.Text, err = readText(filepath.Join(dir, "capability.text.md")); err != nil {
		return c, err
	}
	c.MCPServers, err = readServers(filepath.Join(dir, "capability.mcp.json"))
	return c, err
}

// servers is the form of *.mcp.json.
type servers struct {
	MCPServers map[string]client.MCPServer `json:"mcpServers"`
}

func readServers(path string) (map[string]client.MCPServer, error) {
	var s servers
	if err := readJSON(path, &s, false); err != nil {
		return nil, err
	}
	for name, m := range s.MCPServers {
		if what := m.Problem(); what != "" {
			return nil, fmt.Errorf("%s: the MCP server %q %s", filepath.Base(path), name, what)
		}
	}
	return s.MCPServers, nil
}

func readJSON(path string, into any, needed bool) error {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) && !needed {
		return nil
	}
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		if _, exact := into.(*servers); exact { // a misspelt member of a server would be a server that is not reached
			decoder.DisallowUnknownFields()
		}
		err = decoder.Decode(into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return nil
}

func readText(path string) (string, error) {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("it is no file of at most %d bytes", maxFile)
	}
	return os.ReadFile(path)
}

// Write writes a set into dir and the folder of capabilities beside it. What is there under the same names is replaced,
// everything else stays.
func Write(dir string, set Set) error {
	for _, a := range set.Agents {
		if !nameRule.MatchString(a.Name) {
			return fmt.Errorf("agent name %q is no directory's", a.Name)
		}
		own, prompt, mcp := a.CreateAgent, a.SystemPrompt, a.MCPServers
		own.SystemPrompt, own.MCPServers = "", nil
		at := filepath.Join(dir, a.Name)
		if err := writeAll(at, "agent.json", own, "agent.system-prompt.md", prompt, "agent.mcp.json", mcp); err != nil {
			return err
		}
		flag := filepath.Join(at, ".disabled")
		if a.Inactive {
			if err := os.WriteFile(flag, nil, 0o600); err != nil {
				return err
			}
		} else if err := removed(flag); err != nil {
			return err
		}
	}
	for _, c := range set.Capabilities {
		if !nameRule.MatchString(c.Name) {
			return fmt.Errorf("capability name %q is no directory's", c.Name)
		}
		own := c
		own.Text, own.MCPServers = "", nil
		if err := writeAll(filepath.Join(Capabilities(dir), c.Name), "capability.json", own, "capability.text.md", c.Text, "capability.mcp.json", c.MCPServers); err != nil {
			return err
		}
	}
	return nil
}

func writeAll(dir, main string, own any, textName, text, mcpName string, mcp map[string]client.MCPServer) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, main), own); err != nil {
		return err
	}
	path := filepath.Join(dir, textName)
	if text == "" {
		if err := removed(path); err != nil {
			return err
		}
	} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	if path = filepath.Join(dir, mcpName); len(mcp) == 0 {
		return removed(path)
	}
	return writeJSON(path, servers{mcp})
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
