package runner

import (
	"context"
	"net/http"
)

// reportLoop sends reports as they come and repeats what failed, until ctx is done.
func (r *Runner) reportLoop(ctx context.Context) {
	pause := r.newBackoff()
	for {
		if r.sendReports(ctx) > 0 {
			if !pause.wait(ctx) {
				return
			}
			continue
		}
		pause.reset()
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
	}
}

// flush sends what is left within flushGrace; false: something is left for the next start.
func (r *Runner) flush(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, flushGrace)
	defer cancel()
	pause := r.newBackoff()
	for r.sendReports(ctx) > 0 {
		if !pause.wait(ctx) {
			return false
		}
	}
	return true
}

// sendReports tries every report once, oldest first, and returns how many are left. A coordinator that is away ends
// the round: the others would wait for the same.
func (r *Runner) sendReports(ctx context.Context) (left int) {
	log := r.log("reporter")
	reports := r.state.view().Reports
	for i, rep := range reports {
		body := map[string]string{"runner_id": r.id()}
		switch rep.Kind {
		case "failed":
			body["error"] = rep.Error
		case "stopped":
			body["signal"] = rep.Signal
		default:
			body["status"] = "success"
		}
		gen := r.generation()
		err := r.api.report(ctx, rep.RunID, rep.Kind, body)
		switch {
		case err == nil:
		case final(err):
			log.WarnContext(ctx, "The coordinator does not take {run} as {kind}: {err}", "run", rep.RunID, "kind", rep.Kind, "err", err)
		case ctx.Err() != nil:
			return len(reports) - i + left
		case status(err) == http.StatusUnauthorized:
			r.reregister(ctx, gen)
			return len(reports) - i + left
		default:
			log.WarnContext(ctx, "Report of {run} will be repeated: {err}", "run", rep.RunID, "err", err)
			if status(err) == 0 {
				return len(reports) - i + left
			}
			left++
			continue
		}
		if err := r.state.change(func(s *saved) { s.Reports = without(s.Reports, rep) }); err != nil {
			log.ErrorContext(ctx, "The state file cannot be written: {err}", "err", err)
		}
	}
	return left
}

func without(reports []report, done report) []report {
	for i, r := range reports {
		if r == done {
			return append(append([]report{}, reports[:i]...), reports[i+1:]...)
		}
	}
	return reports
}

// wakeReports makes the report loop look; it never blocks.
func (r *Runner) wakeReports() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
