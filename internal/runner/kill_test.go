package runner

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// killTrials is how often TestKilledAtAnyMoment kills a runner; -tags prove raises it.
var killTrials = 4

// TestKilledAtAnyMoment: a runner is killed at a random moment of its work, again and again. In the end every run has
// ended exactly once, nothing executes any more, and nothing is left to report.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	cfg := f.config(t)
	raw, err := json.Marshal(lifeConfig{f.URL, cfg.ProjectDir, cfg.StateDir, binaries})
	if err != nil {
		t.Fatal(err)
	}
	prompts := []string{"quick", "test:sleep 100ms", "test:sleep 10m", "test:fail 3 x"}
	var ids []string
	for trial := range killTrials {
		life := exec.Command(os.Args[0])
		life.Env = append(os.Environ(), asRunner+"="+string(raw))
		if err := life.Start(); err != nil {
			t.Fatal(err)
		}
		for i, prompt := range prompts {
			id := fmt.Sprintf("run_%d_%d", trial, i)
			ids = append(ids, id)
			f.give(id, prompt)
		}
		f.until("something to be delivered", func() bool { return len(f.queue) < len(prompts) })
		<-time.After(rand.N(300 * time.Millisecond))
		_ = life.Process.Kill()
		_ = life.Wait()
		f.redeliver(ids, prompts)
	}
	r, _ := f.starts(t, cfg)
	// A poll of a killed runner may still take a run to its grave; as with the claim lease, it is offered again.
	done := make(chan struct{})
	var again sync.WaitGroup
	again.Go(func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				f.redeliver(ids, prompts)
			}
		}
	})
	defer again.Wait()
	defer close(done)
	for _, id := range ids {
		// What is long is stopped, unless its runner was killed under it.
		f.until(id+" to begin", func() bool { return f.runs[id] != "" })
		f.change(func() {
			if f.runs[id] == "started" {
				f.stops = append(f.stops, id)
			}
		})
	}
	for _, id := range ids {
		f.ends(id)
		if left := leftBehind(id, child{}); len(left) > 0 {
			f.until("the end of the processes of "+id, func() bool { return len(leftBehind(id, child{})) == 0 })
		}
	}
	f.until("nothing left in the state", func() bool {
		v := r.state.view()
		return len(v.Runs)+len(v.Reports) == 0
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		if n := f.ended[id]; n != 1 {
			t.Errorf("%s ended %d times", id, n)
		}
	}
}

// redeliver does what the claim lease does: what was delivered and never acknowledged goes back into the queue.
func (f *fake) redeliver(ids, prompts []string) {
	f.mu.Lock()
	queued := map[string]bool{}
	for _, run := range f.queue {
		queued[text(run, "run_id")] = true
	}
	var lost []string
	for _, id := range ids {
		if f.runs[id] == "" && !queued[id] {
			lost = append(lost, id)
		}
	}
	f.mu.Unlock()
	for _, id := range lost {
		var trial, i int
		if _, err := fmt.Sscanf(id, "run_%d_%d", &trial, &i); err != nil {
			panic(err) // the ids are this test's own
		}
		f.give(id, prompts[i])
	}
}
