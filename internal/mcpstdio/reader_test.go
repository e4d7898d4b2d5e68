package mcpstdio

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, in io.Reader, maxMessage int) []rawLine {
	t.Helper()
	r := newLineReader(in, maxMessage)
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
				got := readAll(t, strings.NewReader(body+end), limit)
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
	f.Add(bytes.Repeat([]byte("ab\n"), readBuffer/2), uint16(1), false)
	f.Fuzz(func(t *testing.T, stream []byte, limit uint16, slow bool) {
		maxMessage := int(limit) + 1
		var in io.Reader = bytes.NewReader(stream)
		if slow {
			in = iotest.OneByteReader(in)
		}
		got := readAll(t, in, maxMessage)
		for i, want := range bytes.Split(bytes.TrimPrefix(stream, []byte("\xef\xbb\xbf")), []byte("\n")) {
			trimmed := bytes.TrimSpace(want)
			if len(got) == 0 {
				if len(trimmed) > 0 {
					t.Fatalf("line %d is missing", i)
				}
				continue
			}
			l := got[0]
			switch {
			case l.cut && len(want) > maxMessage:
				got = got[1:]
				if len(l.head) > keepHead || len(l.tail) > keepTail || !bytes.HasPrefix(want, l.head) && !bytes.HasPrefix(append(want, '\n'), l.head) {
					t.Fatalf("line %d: ends %q and %q", i, l.head, l.tail)
				}
				if id := idOfCut(l.head, l.tail); id != nil {
					if _, ok := idKey(id); !ok {
						t.Fatalf("line %d: id %s", i, id)
					}
				}
			case len(trimmed) == 0:
			case len(trimmed) > maxMessage || !bytes.Equal(l.message, trimmed):
				t.Fatalf("line %d: got %q, want %q", i, l.message, trimmed)
			default:
				got = got[1:]
				if e, err := openEnvelope(l.message); err == nil {
					_ = e.kind()
					idKey(e.ID)
				}
			}
		}
		if len(got) > 0 {
			t.Fatalf("%d lines too many", len(got))
		}
	})
}
