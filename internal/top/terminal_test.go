package top_test

import (
	"strconv"
	"strings"
)

// screenOf is as much of a terminal as the program uses: it keeps what a person would see.
type screenOf struct {
	width, height, row, col int
	cells                   [][]rune
	rest                    string // an escape sequence that is not whole yet
}

func newScreen(width, height int) *screenOf {
	s := &screenOf{width: width, height: height}
	s.clear()
	return s
}

func (s *screenOf) clear() {
	s.cells = make([][]rune, s.height)
	for i := range s.cells {
		s.cells[i] = []rune(strings.Repeat(" ", s.width))
	}
}

func (s *screenOf) text() string {
	lines := make([]string, s.height)
	for i, l := range s.cells {
		lines[i] = strings.TrimRight(string(l), " ")
	}
	return strings.Join(lines, "\n")
}

func (s *screenOf) write(text string) {
	text, s.rest = s.rest+text, ""
	for len(text) > 0 {
		if text[0] == 0x1b {
			n := s.escape(text)
			if n == 0 {
				s.rest = text
				return
			}
			text = text[n:]
			continue
		}
		r := []rune(text[:min(len(text), 4)])[0]
		if r == '\uFFFD' && len(text) < 4 {
			s.rest = text
			return
		}
		text = text[len(string(r)):]
		switch {
		case r == '\r':
			s.col = 0
		case r == '\n':
			s.row = min(s.row+1, s.height-1)
		case r >= ' ' && s.row < s.height && s.col < s.width:
			s.cells[s.row][s.col] = r
			s.col++
		}
	}
}

// escape obeys one sequence and returns its length; 0: it is not whole.
func (s *screenOf) escape(text string) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] == ']' { // a title or a question about colours
		for _, end := range []string{"\a", "\x1b\\"} {
			if i := strings.Index(text, end); i >= 0 {
				return i + len(end)
			}
		}
		return 0
	}
	if text[1] != '[' {
		return 2
	}
	i := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' && r <= '~' })
	if i < 0 {
		return 0
	}
	args := strings.Split(strings.Trim(text[2:2+i], "?"), ";")
	arg := func(n, otherwise int) int {
		if n < len(args) {
			if v, err := strconv.Atoi(args[n]); err == nil {
				return v
			}
		}
		return otherwise
	}
	switch text[2+i] {
	case 'H':
		s.row, s.col = min(arg(0, 1), s.height)-1, min(arg(1, 1), s.width)-1
	case 'A':
		s.row = max(s.row-arg(0, 1), 0)
	case 'B':
		s.row = min(s.row+arg(0, 1), s.height-1)
	case 'C':
		s.col = min(s.col+arg(0, 1), s.width-1)
	case 'D':
		s.col = max(s.col-arg(0, 1), 0)
	case 'J':
		if arg(0, 0) == 2 {
			s.clear()
			break
		}
		s.erase()
		for r := s.row + 1; r < s.height; r++ {
			s.cells[r] = []rune(strings.Repeat(" ", s.width))
		}
	case 'K':
		if arg(0, 0) == 2 {
			s.cells[s.row] = []rune(strings.Repeat(" ", s.width))
			break
		}
		s.erase()
	}
	return 2 + i + 1
}

func (s *screenOf) erase() {
	for c := s.col; c < s.width; c++ {
		s.cells[s.row][c] = ' '
	}
}
