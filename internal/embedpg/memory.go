package embedpg

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Bounds of what the server keeps of its data in shared memory, in MB. Pages are only taken once they are used.
const (
	leastBuffers = 64
	mostBuffers  = 1024
)

// buffers is shared_buffers for this machine: a sixteenth of its memory, as it is shared with agents, browsers and
// compilers. Postgres' own advice is a quarter, for a machine of its own.
func buffers() string { return buffersFor(memory("/")) }

func buffersFor(bytes uint64) string {
	return fmt.Sprintf("%dMB", min(max(bytes>>20/16, leastBuffers), mostBuffers))
}

// memory is how many bytes there are, within the container if there is one; 0 where Linux does not tell.
func memory(root string) uint64 {
	least := uint64(0)
	take := func(text string, unit uint64) {
		n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
		if err == nil && n > 0 && n < 1<<50/unit && (least == 0 || n*unit < least) { // cgroups write "max" or a huge number for none
			least = n * unit
		}
	}
	if b, err := os.ReadFile(root + "proc/meminfo"); err == nil {
		if _, rest, ok := strings.Cut(string(b), "MemTotal:"); ok {
			kb, _, _ := strings.Cut(rest, "kB")
			take(kb, 1024)
		}
	}
	for _, path := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if b, err := os.ReadFile(root + path); err == nil {
			take(string(b), 1)
		}
	}
	return least
}
