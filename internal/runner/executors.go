package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultExecutor runs when neither a profile nor an executor is named.
const DefaultExecutor = "claude-code"

// Executor is the program that runs are handed to, as the registration names it.
type Executor struct {
	Type    string         `json:"type"`
	Command string         `json:"command"` // as found, relative to the runner's folder
	Config  map[string]any `json:"config"`  // handed to the executor as executor_config

	path string // absolute
}

// Executors lists the executors of the folder dir by name: every dir/executors/<name>/ao-*-exec that may be executed.
// The values are paths relative to dir. A missing folder has none.
func Executors(dir string) (map[string]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "executors", "*", "ao-*-exec*"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	slices.Sort(found)
	for _, path := range found {
		base := strings.TrimSuffix(filepath.Base(path), ".exe")
		name := filepath.Base(filepath.Dir(path))
		if !strings.HasSuffix(base, "-exec") || out[name] != "" || !executable(path) {
			continue
		}
		if out[name], err = filepath.Rel(dir, path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Profiles lists the names of dir/profiles/*.json, sorted.
func Profiles(dir string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(dir, "profiles", "*.json"))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(found))
	for _, path := range found {
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".json"))
	}
	slices.Sort(names)
	return names, nil
}

// Select finds what to run by its name: the profile of that name in dir, else the executor of that name. An empty
// name is claude-code. It returns the executor_profile to register and the executor.
func Select(dir, name string) (profile string, ex Executor, err error) {
	if name == "" {
		name = DefaultExecutor
	}
	raw, err := os.ReadFile(filepath.Join(dir, "profiles", filepath.Base(name)+".json"))
	if err == nil {
		ex, err = readProfile(dir, name, raw)
		return name, ex, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", Executor{}, err
	}
	known, err := Executors(dir)
	if err != nil {
		return "", Executor{}, err
	}
	command, ok := known[name]
	if !ok {
		return "", Executor{}, fmt.Errorf("there is no profile and no executor %q in %s; --executor-list shows what there is", name, dir)
	}
	ex, err = locate(dir, Executor{Type: name, Command: command})
	return name, ex, err
}

// AtPath uses the program at path, absolute or relative to dir. The profile's name is its folder's.
func AtPath(dir, path string) (profile string, ex Executor, err error) {
	name := filepath.Base(filepath.Dir(path))
	if name == "." || name == string(filepath.Separator) {
		name = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "ao-"), "-exec")
	}
	ex, err = locate(dir, Executor{Type: name, Command: path})
	return name, ex, err
}

func readProfile(dir, name string, raw []byte) (Executor, error) {
	var ex Executor
	if err := json.Unmarshal(raw, &ex); err != nil {
		return ex, fmt.Errorf("profile %s: %w", name, err)
	}
	if ex.Type == "" || ex.Command == "" {
		return ex, fmt.Errorf("profile %s: type and command are required", name)
	}
	return locate(dir, ex)
}

// locate makes the command's path absolute; it must be a program.
func locate(dir string, ex Executor) (Executor, error) {
	if ex.Config == nil {
		ex.Config = map[string]any{}
	}
	path := ex.Command
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return ex, err
	}
	if !executable(path) {
		return ex, fmt.Errorf("the executor %s is not there or may not be executed", path)
	}
	ex.path = path
	return ex, nil
}
