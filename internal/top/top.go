package top

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/agent-coordinator/agent-coordinator/client"
	_ "github.com/agent-coordinator/agent-coordinator/internal/top/dark" // before Bubble Tea asks the terminal
)

const (
	every    = 2 * time.Second // between pictures while nothing is heard
	askFor   = 10 * time.Second
	again    = time.Second // before the live view is tried again
	notOften = 500 * time.Millisecond
)

// Options of Run.
type Options struct {
	API     *client.AgentCoordinationClient
	URL     string // of the API, for its live view
	Key     string
	Project string
	In      io.Reader
	Out     io.Writer
}

// model is bubbletea's.
type model struct {
	ctx   context.Context //nolint:containedctx // bubbletea's commands have no other way to it
	opts  Options
	view  screen
	asked time.Time
}

type (
	picture struct {
		snap Snapshot
		err  error
	}
	tick struct{}
	news struct{}
)

// Run shows the screen until the person quits or ctx ends.
func Run(ctx context.Context, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &model{ctx: ctx, opts: o, view: screen{loading: true, width: 80, height: 24, now: time.Now(), paint: newPaint(lipgloss.NewRenderer(o.Out))}}
	m.view.snap.Project = o.Project
	p := tea.NewProgram(m, tea.WithAltScreen(), tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out))
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		listen(ctx, o, func() { p.Send(news{}) })
	}()
	_, err := p.Run()
	cancel()
	<-listening
	if err != nil && !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("show the screen: %w", err)
	}
	return nil
}

func (m *model) Init() tea.Cmd { return tea.Batch(m.ask(), wait()) }

func wait() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{} }) }

// ask gets a picture.
func (m *model) ask() tea.Cmd {
	m.asked = time.Now()
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, askFor)
		defer cancel()
		s, err := Gather(ctx, m.opts.API, m.opts.Project, time.Now())
		return picture{s, err}
	}
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	v := &m.view
	v.now = time.Now()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		v.width, v.height = max(msg.Width, 20), max(msg.Height, 6)
	case picture:
		if msg.err == nil {
			v.snap, v.lost, v.loading, v.why = msg.snap, time.Time{}, false, ""
		} else if v.why = msg.err.Error(); v.lost.IsZero() {
			v.lost = v.now
		}
	case tick:
		if time.Since(m.asked) >= every {
			return m, tea.Batch(m.ask(), wait())
		}
		return m, wait()
	case news:
		if time.Since(m.asked) >= notOften {
			return m, m.ask()
		}
	case tea.KeyMsg:
		return m, m.press(msg)
	}
	return m, nil
}

func (m *model) press(key tea.KeyMsg) tea.Cmd {
	v := &m.view
	if v.typing {
		switch key.Type {
		case tea.KeyEnter:
			v.typing = false
		case tea.KeyEsc:
			v.typing, v.filter = false, ""
		case tea.KeyCtrlC:
			return tea.Quit
		case tea.KeyBackspace:
			if r := []rune(v.filter); len(r) > 0 {
				v.filter = string(r[:len(r)-1])
			}
		case tea.KeyRunes, tea.KeySpace:
			v.filter += string(key.Runes)
		default:
		}
		v.scroll = 0
		return nil
	}
	turn := func(to int) { v.view, v.scroll = (to+len(views))%len(views), 0 }
	switch key.String() {
	case "q", "ctrl+c":
		return tea.Quit
	case "1", "2", "3", "4", "5":
		turn(int(key.Runes[0] - '1'))
	case "tab", "right", "l":
		turn(v.view + 1)
	case "shift+tab", "left", "h":
		turn(v.view - 1)
	case "j", "down":
		v.scroll = min(v.scroll+1, max(len(v.body())-2, 0))
	case "k", "up":
		v.scroll = max(v.scroll-1, 0)
	case "pgdown", " ":
		v.scroll = min(v.scroll+max(v.height-8, 1), max(len(v.body())-2, 0))
	case "pgup":
		v.scroll = max(v.scroll-max(v.height-8, 1), 0)
	case "g", "home":
		v.scroll = 0
	case "/":
		v.typing = true
	case "esc":
		v.filter = ""
	case "r":
		return m.ask()
	}
	return nil
}

func (m *model) View() string { return m.view.render() }

// listen follows the API's live view and tells when something happened. What happened the next picture shows, so a
// connection that is lost costs no more than two seconds.
func listen(ctx context.Context, o Options, tell func()) {
	for ctx.Err() == nil {
		_ = follow(ctx, o, tell) // pictures find out that the coordinator is away
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

func follow(ctx context.Context, o Options, tell func()) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.URL+"/sse/sessions?include_init=false", nil)
	if err != nil {
		return fmt.Errorf("follow: %w", err)
	}
	req.Header.Set("X-Api-Key", o.Key)
	if o.Project != "" {
		req.Header.Set("X-Project", o.Project)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("follow: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the live view answers %d", res.StatusCode)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data:") {
			tell()
		}
	}
	return lines.Err()
}
