package embedpg

import (
	"os"
	"path/filepath"
	"testing"
)

func TestBuffersFollowTheMemoryOfTheContainer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing known":        {nil, "64MB"},
		"laptop":               {map[string]string{"proc/meminfo": "MemTotal:        8000000 kB\nMemFree: 1 kB\n"}, "488MB"},
		"server":               {map[string]string{"proc/meminfo": "MemTotal:       264000000 kB\n"}, "1024MB"},
		"container":            {map[string]string{"proc/meminfo": "MemTotal: 264000000 kB\n", "sys/fs/cgroup/memory.max": "2147483648\n"}, "128MB"},
		"container, no limit":  {map[string]string{"proc/meminfo": "MemTotal: 8000000 kB\n", "sys/fs/cgroup/memory.max": "max\n"}, "488MB"},
		"old cgroup, no limit": {map[string]string{"proc/meminfo": "MemTotal: 8000000 kB\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, "488MB"},
		"nonsense":             {map[string]string{"proc/meminfo": "MemTotal: lots kB\n"}, "64MB"},
	} {
		root := t.TempDir() + "/"
		for path, text := range c.files {
			if err := os.MkdirAll(filepath.Dir(root+path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(root+path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := buffersFor(memory(root)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
