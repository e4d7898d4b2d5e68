//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestHostPagePictures tells the project atlas and, with E2E_PICTURES, takes the pictures of docs/images into that folder.
// E2E_HOME is the home of an installation that is up already, to look at the project in a browser of one's own.
func TestHostPagePictures(t *testing.T) {
	in := &install{Home: os.Getenv("E2E_HOME"), Work: t.TempDir()}
	if in.Home == "" {
		hosts(t)
		in = up(t, "COORD_RUNNER=none")
	} else {
		raw, err := os.ReadFile(filepath.Join(in.Home, "up.json"))
		if err == nil {
			err = json.Unmarshal(raw, in)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	a := tellAtlas(t, in)
	in.APIKey = a.reviewer()
	if to := os.Getenv("E2E_PICTURES"); to != "" {
		drive(t, in, "pictures.mjs", to)
		shots, err := filepath.Glob(filepath.Join(to, "*.png"))
		if err != nil || len(shots) == 0 {
			t.Fatalf("no pictures in %s: %v", to, err)
		}
		for _, f := range shots {
			if size := shrink(t, f); size > 200<<10 {
				t.Errorf("%s has %d bytes", f, size)
			}
		}
	}
}

// shrink writes a picture with its 256 most frequent colours, others as the nearest of them, and returns its size: a page
// has few colours, and a repository keeps every version of a picture.
func shrink(t *testing.T, file string) int64 {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	from, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	size, often := from.Bounds(), map[color.RGBA]int{}
	at := func(x, y int) color.RGBA {
		r, g, b, _ := from.At(x, y).RGBA()
		return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255} //nolint:gosec // 16 bits, shifted by 8
	}
	for y := range size.Dy() {
		for x := range size.Dx() {
			often[at(x, y)]++
		}
	}
	all := slices.Collect(maps.Keys(often))
	slices.SortFunc(all, func(a, b color.RGBA) int { return often[b] - often[a] })
	palette, index := choosePalette(all, often)
	to := image.NewPaletted(size, palette)
	for y := range size.Dy() {
		for x := range size.Dx() {
			to.SetColorIndex(x, y, index[at(x, y)])
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil { //nolint:gosec // a picture
		t.Fatal(err)
	}
	return int64(out.Len())
}

// choosePalette takes the most frequent colours, then again and again the one that is drawn most wrongly.
func choosePalette(all []color.RGBA, often map[color.RGBA]int) (palette color.Palette, index map[color.RGBA]uint8) {
	apart := func(a, b color.RGBA) int {
		r, g, l := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
		return 2*r*r + 3*g*g + l*l
	}
	far, index := map[color.RGBA]int{}, map[color.RGBA]uint8{}
	take := func(c color.RGBA) {
		n := uint8(len(palette)) //nolint:gosec // at most 255
		palette = append(palette, c)
		for _, x := range all {
			if d, ok := far[x]; !ok || apart(x, c) < d {
				far[x], index[x] = apart(x, c), n
			}
		}
	}
	for _, c := range all[:min(len(all), 48)] {
		take(c)
	}
	for len(palette) < min(len(all), 256) {
		worst, most := all[0], -1
		for _, x := range all {
			if e := far[x] * (often[x] + 8); e > most {
				worst, most = x, e
			}
		}
		take(worst)
	}
	return palette, index
}

// drive runs one of the scripts beside the hosts in node, with a link that logs in and further arguments, and returns
// what it printed.
func drive(t *testing.T, in *install, name string, args ...string) []byte {
	t.Helper()
	dir, chromium := hosts(t), os.Getenv("CHROMIUM")
	if chromium == "" {
		var err error
		if chromium, err = exec.LookPath("chromium"); err != nil {
			t.Skip("chromium is not installed: the page is not driven here")
		}
	}
	_, link := in.post(t, "/ui/link", map[string]any{})
	path, _ := link["path"].(string)
	if path == "" {
		t.Fatalf("no link: %v", link)
	}
	script := filepath.Join(dir, name) // imports are looked for beside it
	raw, err := os.ReadFile(filepath.Join(repoRoot(), "test", "e2e", "hosts", name))
	if err == nil {
		err = os.WriteFile(script, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "node_modules", ".bin", "node"), append([]string{script, in.APIURL + path}, args...)...)
	cmd.Env = append(cleanEnv(), "HOME="+t.TempDir(), "PATH="+os.Getenv("PATH"), "CHROMIUM="+chromium)
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("the browser: %v\n%s", err, printed)
	}
	return printed
}
