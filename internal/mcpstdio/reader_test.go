package mcpstdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, r *lineReader) []rawLine {
	t.Helper()
	var all []rawLine
	for {
		l, err := r.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
}

func TestReaderBounds(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 99, 100, readBuffer - 1, readBuffer, readBuffer + 1, 3 * readBuffer} {
		for _, end := range []string{"\n", "\r\n", ""} {
			body := strings.Repeat("a", size)
			for limit, cut := range map[int]bool{size: false, size + 1: false, max(size-1, 1): size > 1, max(size/2, 1): size > 1} {
				got := readAll(t, newLineReader(strings.NewReader(body+end), limit))
				if len(got) != 1 || got[0].cut != cut || !cut && string(got[0].message) != body {
					t.Errorf("size %d, end %q, limit %d: %d lines, cut %v", size, end, limit, len(got), len(got) > 0 && got[0].cut)
				}
			}
		}
	}
}

func TestReaderErrorIsKept(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := newLineReader(io.MultiReader(strings.NewReader("one\ntwo"), iotest.ErrReader(broken)), 10)
	for _, want := range []string{"one", "two"} {
		if l, err := r.next(); err != nil || string(l.message) != want {
			t.Errorf("got %q, %v", l.message, err)
		}
	}
	for range 2 {
		if _, err := r.next(); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}

// A line without end must not make the reader hold more than the cap.
//
//nolint:paralleltest // it compares the allocation counter of the whole process
func TestReaderMemoryIsBounded(t *testing.T) {
	const limit = 1 << 20
	var before, after runtime.MemStats
	r := newLineReader(io.MultiReader(io.LimitReader(zeroes{}, 256<<20), strings.NewReader("\n")), limit)
	runtime.ReadMemStats(&before)
	l, err := r.next()
	runtime.ReadMemStats(&after)
	if err != nil || !l.cut || len(l.head) > keepHead || len(l.tail) > keepTail {
		t.Errorf("%v, %d, %d", err, len(l.head), len(l.tail))
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16*limit {
		t.Errorf("%d bytes allocated for a line of 256 MiB", n)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestIDOfCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ head, tail, want string }{
		{`{"jsonrpc":"2.0","id":5,"method":"m","params":{"a":"`, `"}}`, `5`},
		{`{"id":"x","method":"m","params":`, ``, `"x"`},
		{`{"method":"m","params":{"id":1,`, `"},"id":"a\"b" } `, `"a\"b"`},
		{`{"method":"m","params":{`, `"id":5}}`, ``},
		{`{"method":"m","params":{`, `"id":true}`, ``},
		{`{"method":"m","id":null,"params":{`, `}`, ``},
		{`{"id":5,"result":{`, `}}`, ``},
		{`{"result":{"method":"m",`, `},"id":5}`, ``},
		{`[{"method":"m","id":5},`, `,{"id":5}`, ``},
		{``, ``, ``},
	} {
		if got := string(idOfCut([]byte(tc.head), []byte(tc.tail))); got != tc.want {
			t.Errorf("%s…%s: %s, want %s", tc.head, tc.tail, got, tc.want)
		}
	}
}

// FuzzReader compares the reader with a plain split, however the stream is cut
// into reads, and lets the message code see everything it returns.
func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n[1]\r\n"), uint16(40), false)
	f.Add([]byte("\xef\xbb\xbf{}\n {\"id\":1e400}\nnull\n"), uint16(3), true)
	f.Add([]byte(`{"method":"m","params":{"x":"yyyyyyyyyyyyyyyyyy"},"id":"last"}`), uint16(20), true)
	f.Add([]byte("  \n00"), uint16(0), false)
	f.Add(bytes.Repeat([]byte("ab\n"), 20), uint16(1), false)
	f.Fuzz(func(t *testing.T, stream []byte, limit uint16, slow bool) {
		maxMessage := int(limit) + 1
		var in io.Reader = bytes.NewReader(stream)
		if slow {
			in = iotest.OneByteReader(in)
		}
		// The smallest buffer there is, so that short lines span several.
		got := readAll(t, &lineReader{in: bufio.NewReaderSize(in, 16), max: maxMessage})
		want := splitPlainly(stream, maxMessage)
		for i, l := range want {
			if i >= len(got) {
				t.Fatalf("line %d is missing", i)
			}
			if got[i].cut != l.cut || !bytes.Equal(got[i].message, l.message) ||
				!bytes.Equal(got[i].head, l.head) || !bytes.Equal(got[i].tail, l.tail) {
				t.Fatalf("line %d: got %+v, want %+v", i, got[i], l)
			}
			checkMessage(t, l)
		}
		if len(got) != len(want) {
			t.Fatalf("%d lines, want %d", len(got), len(want))
		}
	})
}

// splitPlainly is what lineReader does, with all of the stream in memory.
func splitPlainly(stream []byte, maxMessage int) (all []rawLine) {
	for _, whole := range bytes.SplitAfter(bytes.TrimPrefix(stream, []byte("\xef\xbb\xbf")), []byte("\n")) {
		trimmed := bytes.TrimSpace(whole)
		switch {
		case len(whole) > maxMessage+2 || len(trimmed) > maxMessage:
			all = append(all, rawLine{
				cut:  true,
				head: whole[:min(len(whole), keepHead)],
				tail: whole[max(0, len(whole)-keepTail):],
			})
		case len(trimmed) > 0:
			all = append(all, rawLine{message: trimmed})
		}
	}
	return all
}

func checkMessage(t *testing.T, l rawLine) {
	t.Helper()
	if l.cut {
		if id := idOfCut(l.head, l.tail); id != nil && usableID(id) == nil {
			t.Fatalf("id %s", id)
		}
		return
	}
	e, err := openEnvelope(l.message)
	if (err == nil) != json.Valid(l.message) {
		t.Fatalf("%q: %v", l.message, err)
	}
	_ = e.kind()
	if id := usableID(e.ID); id != nil && !json.Valid(id) {
		t.Fatalf("id %s", id)
	}
}
