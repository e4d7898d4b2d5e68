package install

import (
	"errors"
	"strings"
)

// block is a piece of ours in a text file, between a line that begins it and a line that ends it. What stands outside
// stays byte for byte, and taking it out gives the file as it was before.
type block struct{ begin, end string }

// put puts body, whose lines are begin, ours and end, behind the text, or where an older one of ours stands.
// A file without a newline at its end stays one.
func (b block) put(text string, there bool, body string) (after, old string, err error) {
	from, to, err := b.find(text)
	switch {
	case err != nil:
		return text, "", err
	case to > 0:
		return text[:from] + body + text[to:], text[from:to], nil
	case !there:
		return body + "\n", "", nil
	case text == "" || strings.HasSuffix(text, "\n"):
		return text + "\n" + body + "\n", "", nil
	}
	return text + "\n\n" + body, "", nil
}

// cut takes it out, with the blank line that put wrote before it. gone: the file held nothing else and was ours.
func (b block) cut(text string) (rest, old string, gone bool, err error) {
	from, to, err := b.find(text)
	if err != nil || to == 0 {
		return text, "", false, err
	}
	old = text[from:to]
	before, behind := text[:from], text[to:]
	switch {
	case behind == "" && strings.HasSuffix(before, "\n\n"): // the file had no newline at its end
		before = strings.TrimSuffix(before, "\n\n")
	case before == "" && behind == "\n":
		return "", old, true, nil
	default:
		before = strings.TrimSuffix(before, "\n")
		behind = strings.TrimPrefix(behind, "\n")
	}
	return before + behind, old, false, nil
}

// find returns where it stands, to 0 when it does not.
func (b block) find(text string) (from, to int, err error) {
	from = strings.Index(text, b.begin)
	if from < 0 {
		return 0, 0, nil
	}
	length := strings.Index(text[from:], b.end)
	if length < 0 {
		return 0, 0, errors.New("our block has no end marker; correct the file by hand")
	}
	if to = from + length + len(b.end); strings.Contains(text[to:], b.begin) {
		return 0, 0, errors.New("our block is there twice; correct the file by hand")
	}
	return from, to, nil
}
