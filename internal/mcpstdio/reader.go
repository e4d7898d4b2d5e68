package mcpstdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const (
	readBuffer = 64 << 10
	// What is kept of a message that is too long, to find its id: most clients
	// write the id first, some write it last.
	keepHead = 4 << 10
	keepTail = 512
)

// lineReader splits a stream into messages. It holds at most one message of the
// maximum size plus its buffer, whatever the other side sends.
type lineReader struct {
	in    *bufio.Reader
	max   int
	begun bool
	err   error // returned from the next call on
}

func newLineReader(in io.Reader, maxMessage int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, readBuffer), max: maxMessage}
}

// rawLine is one line of input: a message, or the ends of one that is longer
// than the cap.
type rawLine struct {
	message    []byte // owned by the caller
	cut        bool
	head, tail []byte
}

// next returns the next line that is not blank, without its line end. The last
// line needs no line end. Errors: io.EOF after the last line, or what Read
// returned, after the line that it broke off.
func (r *lineReader) next() (rawLine, error) {
	for r.err == nil {
		var l rawLine
		l, r.err = r.line()
		if l.cut || len(l.message) > 0 {
			return l, nil
		}
	}
	return rawLine{}, r.err
}

// line reads up to a line end or an error, with which it returns what came
// before it.
func (r *lineReader) line() (rawLine, error) {
	var l rawLine
	var whole []byte
	for {
		chunk, err := r.in.ReadSlice('\n')
		if !r.begun && len(chunk) > 0 {
			// Some shells begin what they pipe with a byte order mark.
			chunk = bytes.TrimPrefix(chunk, []byte("\xef\xbb\xbf"))
			r.begun = true
		}
		done := !errors.Is(err, bufio.ErrBufferFull)
		switch {
		case l.cut:
			l.addEnds(chunk)
		case len(whole)+len(chunk) <= r.max+len("\r\n"):
			// The line end is only known in the last chunk; it is allowed for
			// here and checked below.
			whole = append(whole, chunk...)
		default:
			l.cut = true
			l.addEnds(whole)
			l.addEnds(chunk)
			whole = nil
		}
		if !done {
			continue
		}
		if !l.cut {
			l.message = bytes.TrimSpace(whole)
			if len(l.message) > r.max {
				l = rawLine{cut: true}
				l.addEnds(whole)
			}
		}
		return l, err
	}
}

// addEnds keeps what of chunk belongs to the ends of a line that is too long.
func (l *rawLine) addEnds(chunk []byte) {
	l.head = append(l.head, chunk[:min(len(chunk), keepHead-len(l.head))]...)
	if len(chunk) >= keepTail {
		l.tail = append(l.tail[:0], chunk[len(chunk)-keepTail:]...)
		return
	}
	if over := len(l.tail) + len(chunk) - keepTail; over > 0 {
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
	l.tail = append(l.tail, chunk...)
}
