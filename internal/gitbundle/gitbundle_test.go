package gitbundle

import (
	"errors"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	h, err := Read([]byte("# v2 git bundle\n-" + b + " what was there\n" + a + " refs/heads/x\n\nPACK\x00\n"))
	if err != nil || !h.Brings(a) || h.Brings(b) || len(h.Needs) != 1 || h.Needs[0] != b {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := Read([]byte("# v3 git bundle\n@object-format=sha1\n" + a + " HEAD\n\nPACK")); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{
		"", "\n", "PACK", "# v2 git bundle", "# v2 git bundle\n", "# v2 git bundle\n\n", "# v2 git bundle\n" + a + " refs/heads/x", "# v2 git bundle\nzz refs/heads/x\n\n",
		"# v2 git bundle\n" + a + "\n\n", "# v2 git bundle\n-" + a[:39] + "\n" + a + " x\n\n", "# v3 git bundle\n@filter=blob:none\n" + a + " x\n\n", "# v9 git bundle\n" + a + " x\n\n",
		"# v2 git bundle\n" + strings.Repeat("-"+b+"\n", MaxNeeds+1) + a + " x\n\n", "# v2 git bundle\n" + a + " ../../x",
	} {
		if _, err := Read([]byte(bad)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.60q: %v", bad, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("# v2 git bundle\n-" + strings.Repeat("b", 40) + "\n" + strings.Repeat("a", 40) + " refs/heads/x\n\nPACK"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := Read(raw)
		if (err == nil) != (len(h.Refs) > 0) || len(h.Needs) > MaxNeeds {
			t.Errorf("%+v, %v", h, err)
		}
	})
}
