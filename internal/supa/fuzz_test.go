package supa

import (
	"strings"
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/coord"
)

// FuzzMessage: a frame of Realtime is refused or becomes a hint; it never becomes one about another project than it names.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"topic":"realtime:coord","event":"postgres_changes","payload":{"ids":[1],"data":{"table":"file_locks","record":{"project_id":7}}},"ref":null}`))
	f.Add([]byte(`["1","2","realtime:coord","postgres_changes",{"data":{"table":"runs","old_record":{"project_id":9}}}]`))
	f.Add([]byte(`[null,null,null]`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		var m message
		if m.unmarshal(frame) != nil {
			return
		}
		if c := read(m.Payload); c.project != 0 && !strings.Contains(string(m.Payload), "project_id") && !strings.Contains(strings.ToLower(string(m.Payload)), `\u`) {
			t.Fatalf("%s is about project %d", frame, c.project)
		}
	})
}

// FuzzLiteral: a value cannot leave the filter that it stands in.
func FuzzLiteral(f *testing.F) {
	f.Add(`a","b`, `\`)
	f.Add("x,y)", `"`)
	f.Fuzz(func(t *testing.T, a, b string) {
		text, err := literal(coord.RowFilter{Column: "c", Op: "in", Value: []string{a, b}})
		if err != nil {
			t.Fatal(err)
		}
		// What PostgREST reads: quoted values, in which a backslash takes the next character as it is.
		var values []string
		rest := strings.TrimSuffix(strings.TrimPrefix(text, "("), ")")
		for rest != "" {
			var v strings.Builder
			i := 1
			for ; i < len(rest) && rest[i] != '"'; i++ {
				if rest[i] == '\\' {
					i++
				}
				v.WriteByte(rest[i])
			}
			values = append(values, v.String())
			rest = strings.TrimPrefix(rest[i+1:], ",")
		}
		if len(values) != 2 || values[0] != a || values[1] != b {
			t.Fatalf("%q and %q became %s, which reads as %q", a, b, text, values)
		}
	})
}
