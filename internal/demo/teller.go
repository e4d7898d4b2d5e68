package demo

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// claim is one thing that had to hold.
type claim struct {
	what string
	seen string
	held bool
}

// teller tells the story and keeps the claims.
type teller struct {
	out    io.Writer
	quiet  bool
	claims []claim
}

func (t *teller) act(title string) {
	if !t.quiet {
		fmt.Fprintf(t.out, "\n%d. %s\n", len(t.titles())+1, title)
	}
	t.claims = append(t.claims, claim{what: title})
}

// titles are the claims that only open an act.
func (t *teller) titles() []claim {
	var out []claim
	for _, c := range t.claims {
		if c.seen == "" {
			out = append(out, c)
		}
	}
	return out
}

func (t *teller) say(format string, args ...any) {
	if !t.quiet {
		fmt.Fprintf(t.out, "   "+format+"\n", args...)
	}
}

// check keeps a claim: what had to hold, what was seen, and whether the two agree.
func (t *teller) check(held bool, what, format string, args ...any) {
	c := claim{what: what, seen: fmt.Sprintf(format, args...), held: held}
	t.claims = append(t.claims, c)
	if t.quiet {
		return
	}
	mark := "✓"
	if !held {
		mark = "✗ DID NOT HOLD:"
	}
	fmt.Fprintf(t.out, "   %s %s: %s\n", mark, c.what, c.seen)
}

// summary prints every claim and reports whether all held.
func (t *teller) summary(took time.Duration) bool {
	total, held := 0, 0
	fmt.Fprintln(t.out)
	tw := tabwriter.NewWriter(t.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "HELD\tCLAIM\tSEEN")
	for _, c := range t.claims {
		if c.seen == "" {
			continue
		}
		total++
		word := "NO"
		if c.held {
			held++
			word = "yes"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\n", word, c.what, c.seen)
	}
	_ = tw.Flush() // a terminal that went away
	fmt.Fprintf(t.out, "\n%d of %d claims held, %.1f s.\n", held, total, took.Seconds())
	return total > 0 && held == total
}
