package support

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"path"
	"time"
)

// Item is one file of a bundle. Make returns its text before scrubbing; a failure is written in its place, since what does
// not work is what the bundle is about.
type Item struct {
	Name, What string
	Make       func(ctx context.Context) (string, error)
}

// itemTime bounds each item.
const itemTime = 15 * time.Second

// Write makes every item and writes the bundle, a gzipped tar whose files lie in one folder.
func Write(ctx context.Context, w io.Writer, folder string, at time.Time, scrub *Scrubber, items []Item) error {
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	for _, item := range items {
		text := scrub.Scrub(item.text(ctx))
		head := &tar.Header{Name: path.Join(folder, item.Name), Mode: 0o600, Size: int64(len(text)), ModTime: at, Format: tar.FormatPAX}
		if err := out.WriteHeader(head); err != nil {
			return err
		}
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	return zip.Close()
}

func (i Item) text(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, itemTime)
	defer cancel()
	text, err := i.Make(ctx)
	if err != nil {
		return fmt.Sprintf("%s\ncould not be had: %v\n", text, err)
	}
	return text
}
