package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// manSections are those of manual pages about system calls, library functions, devices, files and conventions, as the
// packages manpages and manpages-dev of Debian bring them. Programs' own pages differ too much from machine to machine.
var manSections = []string{"2", "3", "4", "5", "7"}

// manualPages are the pages as a set: the page is the memory; what its NAME line says that it is about, with its names masked,
// is the question. The NAME line itself is not in the memory.
func manualPages(ctx context.Context) ([]item, error) {
	var out []item
	for _, root := range manRoots(ctx) {
		for _, s := range manSections {
			files, err := filepath.Glob(filepath.Join(root, "man"+s, "*."+s+"*"))
			if err != nil {
				return nil, err
			}
			for _, path := range files {
				if in, err := os.Lstat(path); err != nil || in.Mode()&fs.ModeSymlink != 0 {
					continue // another name of a page that is read anyway
				}
				source, err := manSource(path)
				if err != nil {
					return nil, err
				}
				if p, ok := manPage(source); ok {
					out = append(out, p)
				}
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
	return nil, errors.New("there are no manual pages on this machine (Debian: apt install manpages manpages-dev)")
}

func manRoots(ctx context.Context) []string {
	roots := []string{"/usr/share/man", "/usr/local/share/man"}
	if raw, err := exec.CommandContext(ctx, "manpath", "-q").Output(); err == nil {
		roots = append(filepath.SplitList(strings.TrimSpace(string(raw))), roots...)
	}
	return roots
}

func manSource(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return string(raw), nil
}

var (
	manFont   = regexp.MustCompile(`\\f(\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&|^/,%:]|\\\*(\[[^]]*\]|\(..|.)`)
	manMacro  = regexp.MustCompile(`^[.'][ \t]*([A-Za-z]{1,3})\b[ \t]*`)
	manEscape = strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\(dq`, `"`, `\(en`, "-", `\(em`, "-", `\e`, `\`, `\ `, " ", `\~`, " ")
)

// manPage reads a page in the macros of man(7); false for any other and for references to another page.
func manPage(source string) (item, bool) {
	var name, body []string
	section := ""
	for text := range strings.Lines(source) {
		text = strings.TrimRight(text, "\n")
		if strings.HasPrefix(text, `.\"`) || strings.HasPrefix(text, `'\"`) || strings.HasPrefix(text, `.TH`) {
			continue
		}
		if strings.HasPrefix(text, ".so ") {
			return item{}, false
		}
		text = manEscape.Replace(manFont.ReplaceAllString(text, ""))
		macro := manMacro.FindStringSubmatch(text)
		if macro != nil {
			text = strings.ReplaceAll(text[len(macro[0]):], `"`, "")
		} else if strings.HasPrefix(text, ".") {
			continue
		}
		if macro != nil && macro[1] == "SH" {
			section = strings.ToUpper(strings.TrimSpace(text))
			continue
		}
		if section == "NAME" {
			name = append(name, text)
		} else {
			body = append(body, text)
		}
	}
	names, about, ok := strings.Cut(strings.Join(strings.Fields(strings.Join(name, " ")), " "), " - ")
	if !ok || len(body) < 3 {
		return item{}, false
	}
	all := strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
	if len(all) == 0 {
		return item{}, false
	}
	p := item{name: strings.Join(all, " "), part: all[0], text: "\n" + strings.Join(body, "\n")}
	asked := strings.Fields(about)
	for i, w := range asked {
		if slices.Contains(all, strings.Trim(w, ".,;:()\"'")) {
			asked[i] = "it"
		}
	}
	if len(asked) >= 4 {
		p.question = strings.Join(asked, " ")
	}
	return p, true
}
