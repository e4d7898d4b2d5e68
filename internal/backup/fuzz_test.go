package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"testing"
)

// FuzzUnpack: an archive that is not ours, or broken anywhere, is refused as such before a database is touched; one that
// is accepted has a part or a plain refusal for each table of its manifest.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte(`{"format": 1, "schema": 20261101000001, "tables": [{"schema": "public", "name": "agents", "columns": ["id"], "rows": 1}]}`), "public.agents", []byte("1\n"), uint16(0))
	f.Add([]byte(`{"format": 1, "tables": [{"schema": "pg_catalog", "name": "pg_authid", "columns": ["rolname"]}]}`), "../../etc/passwd", []byte("x"), uint16(9))
	f.Add([]byte(`{"format": 2}`), "", []byte(nil), uint16(3))
	f.Fuzz(func(t *testing.T, manifest []byte, name string, content []byte, cut uint16) {
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		out := tar.NewWriter(zip)
		for _, part := range []struct {
			name string
			body []byte
		}{{manifestFile, manifest}, {name, content}} {
			if out.WriteHeader(&tar.Header{Name: part.name, Mode: 0o600, Size: int64(len(part.body))}) != nil {
				return // a name that no archive can have
			}
			if _, err := out.Write(part.body); err != nil {
				t.Fatal(err)
			}
		}
		if out.Close() != nil || zip.Close() != nil {
			t.Fatal("the archive could not be written")
		}
		raw := packed.Bytes()
		if n := int(cut); n > 0 && n < len(raw) {
			raw = raw[:n]
		}
		m, spool, err := unpack(bytes.NewReader(raw))
		if err != nil {
			if !errors.Is(err, ErrNoBackup) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		defer spool.close()
		for _, table := range m.Tables {
			if _, err := spool.part(table); err != nil && !errors.Is(err, ErrNoBackup) {
				t.Fatalf("an error of another kind: %v", err)
			}
		}
	})
}
