package inline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const cgroupRoot = "/sys/fs/cgroup"

// groups makes control groups where this process may; where it may not, the limits of processes alone hold, which the
// self-test then proves to be enough.
type groups struct {
	pids, memory string // parent folders; "": none
	unified      bool   // version 2: both are the same folder
}

// made numbers the groups of this process.
var made atomic.Int64

// newGroups looks for a place: the given folder, which must be delegated to us, or else the group that we are in.
func newGroups(parent string) *groups {
	g := &groups{}
	if _, err := os.Stat(filepath.Join(cgroupRoot, "cgroup.controllers")); err == nil {
		g.unified = true
		if parent == "" {
			parent = filepath.Join(cgroupRoot, ownGroup(""))
		}
		controllers, _ := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
		given := strings.Fields(string(controllers))
		if slices.Contains(given, "pids") && writable(parent) {
			g.pids = parent
			if slices.Contains(given, "memory") {
				g.memory = parent
			}
		}
		return g
	}
	for controller, at := range map[string]*string{"pids": &g.pids, "memory": &g.memory} {
		dir := filepath.Join(cgroupRoot, controller, ownGroup(controller))
		if parent != "" {
			dir = filepath.Join(cgroupRoot, controller, parent)
		}
		if writable(dir) {
			*at = dir
		}
	}
	return g
}

// ownGroup is the path of our group in the hierarchy of the controller; "" names version 2's.
func ownGroup(controller string) string {
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 && slices.Contains(strings.Split(parts[1], ","), controller) {
			return parts[2]
		}
	}
	return ""
}

// writable makes and removes a group, and removes empty ones that a killed process left.
func writable(parent string) bool {
	left, _ := filepath.Glob(filepath.Join(parent, "coord-tool-*"))
	for _, dir := range left {
		owner := strings.Split(filepath.Base(dir), "-")[2]
		if _, err := os.Stat("/proc/" + owner); err != nil {
			_ = os.Remove(dir) // refused while something runs in it
		}
	}
	probe := filepath.Join(parent, groupName())
	if err := os.Mkdir(probe, 0o755); err != nil {
		return false
	}
	return os.Remove(probe) == nil
}

// String says what limits hold, for the log and the self-test's message.
func (g *groups) String() string {
	switch {
	case g.pids != "" && g.memory != "":
		return "control groups for processes and memory"
	case g.pids != "":
		return "a control group for processes; memory is limited for each process alone"
	case g.memory != "":
		return "a control group for memory; processes are limited by rlimit"
	}
	return "no control groups; processes and memory are limited by rlimits"
}

func groupName() string { return fmt.Sprintf("coord-tool-%d-%d", os.Getpid(), made.Add(1)) }

// group is one command's control group.
type group struct{ dirs []string }

func (g *groups) make(l Limits) (*group, error) {
	name := groupName()
	made := &group{}
	set := func(parent string, values map[string]int64) error {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o755); err != nil && !(errors.Is(err, fs.ErrExist) && slices.Contains(made.dirs, dir)) {
			return err
		}
		if !slices.Contains(made.dirs, dir) {
			made.dirs = append(made.dirs, dir)
		}
		for file, v := range values {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(v, 10)), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if g.pids != "" {
		err = set(g.pids, map[string]int64{"pids.max": int64(l.Processes)})
	}
	if g.memory != "" && err == nil {
		file := "memory.limit_in_bytes"
		if g.unified {
			file = "memory.max"
		}
		err = set(g.memory, map[string]int64{file: l.Memory})
	}
	if err != nil {
		made.remove()
		return nil, err
	}
	return made, nil
}

func (g *group) add(pid int) error {
	for _, dir := range g.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// kill kills everything in the group.
func (g *group) kill() {
	for _, dir := range g.dirs {
		if os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0o644) == nil {
			continue
		}
		raw, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for _, field := range strings.Fields(string(raw)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
				kill(pid)
			}
		}
	}
}

// remove kills what is left and removes the group; what the kernel has not let go of within a second is removed at the
// next start.
func (g *group) remove() {
	g.kill()
	for _, dir := range g.dirs {
		for range 50 {
			if err := os.Remove(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			g.kill()
			time.Sleep(20 * time.Millisecond)
		}
	}
}
