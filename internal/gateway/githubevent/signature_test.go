package githubevent

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // the point is that it is refused
	"encoding/hex"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := goleak.Find(); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

const body = `{"zen":"Keep it logically awesome.","hook_id":1}`

func sha1Of(secret, body string) string {
	h := hmac.New(sha1.New, []byte(secret))
	h.Write([]byte(body))
	return hex.EncodeToString(h.Sum(nil))
}

// The vector of GitHub's own documentation ("Validating webhook deliveries").
func TestVerifyKnownVector(t *testing.T) {
	t.Parallel()
	h := http.Header{SignatureHeader: {"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"}}
	if err := Verify(h, []byte("Hello, World!"), "It's a Secret to Everybody"); err != nil {
		t.Fatal(err)
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	good := Sign("s3cret", []byte(body))
	digest := strings.TrimPrefix(good, "sha256=")
	one := func(values ...string) http.Header { return http.Header{SignatureHeader: values} }
	cases := []struct {
		name    string
		header  http.Header
		body    string
		secrets []string
		want    error
	}{
		{"signed with the secret", one(good), body, []string{"s3cret"}, nil},
		{"signed with the secret before", one(good), body, []string{"new", "s3cret"}, nil},
		{"the second is empty", one(good), body, []string{"s3cret", ""}, nil},
		{"upper-case hex is the same number", one("sha256=" + strings.ToUpper(digest)), body, []string{"s3cret"}, nil},
		{"an empty body can be signed", one(Sign("s3cret", nil)), "", []string{"s3cret"}, nil},
		{"SHA-1 beside a good one", http.Header{SignatureHeader: {good}, "X-Hub-Signature": {"sha1=00"}}, body, []string{"s3cret"}, nil},

		{"no secret", one(good), body, nil, ErrNoSecret},
		{"empty secret", one(Sign("", []byte(body))), body, []string{""}, ErrNoSecret},
		{"two empty secrets", one(Sign("", []byte(body))), body, []string{"", ""}, ErrNoSecret},
		{"blank secret", one(Sign("  ", []byte(body))), body, []string{"  "}, ErrNoSecret},
		{"no secret and no header", http.Header{}, body, nil, ErrNoSecret},
		{"signed with the empty secret, one is configured", one(Sign("", []byte(body))), body, []string{"s3cret", ""}, ErrSignature},

		{"no header", http.Header{}, body, []string{"s3cret"}, ErrNoSignature},
		{"nil headers", nil, body, []string{"s3cret"}, ErrNoSignature},
		{"only SHA-1", http.Header{"X-Hub-Signature": {"sha1=" + sha1Of("s3cret", body)}}, body, []string{"s3cret"}, ErrNoSignature},
		{"SHA-256 in the old header", http.Header{"X-Hub-Signature": {good}}, body, []string{"s3cret"}, ErrNoSignature},
		{"header under a wild name", http.Header{"x-hub-signature-256": {good}}, body, []string{"s3cret"}, ErrNoSignature},

		{"empty header", one(""), body, []string{"s3cret"}, ErrSignature},
		{"SHA-1 in the new header", one("sha1=" + sha1Of("s3cret", body)), body, []string{"s3cret"}, ErrSignature},
		{"SHA-1 digest called SHA-256", one("sha256=" + sha1Of("s3cret", body)), body, []string{"s3cret"}, ErrSignature},
		{"sha512 prefix", one("sha512=" + digest), body, []string{"s3cret"}, ErrSignature},
		{"no prefix", one(digest), body, []string{"s3cret"}, ErrSignature},
		{"prefix in capitals", one("SHA256=" + digest), body, []string{"s3cret"}, ErrSignature},
		{"prefix alone", one("sha256="), body, []string{"s3cret"}, ErrSignature},
		{"prefix twice", one("sha256=" + good), body, []string{"s3cret"}, ErrSignature},
		{"colon for equals", one("sha256:" + digest), body, []string{"s3cret"}, ErrSignature},
		{"space before", one(" " + good), body, []string{"s3cret"}, ErrSignature},
		{"space after", one(good + " "), body, []string{"s3cret"}, ErrSignature},
		{"line end after", one(good + "\n"), body, []string{"s3cret"}, ErrSignature},
		{"null byte after", one(good + "\x00"), body, []string{"s3cret"}, ErrSignature},
		{"in quotes", one(`"` + good + `"`), body, []string{"s3cret"}, ErrSignature},
		{"list of two in one header", one(good + ", " + good), body, []string{"s3cret"}, ErrSignature},
		{"header twice", one(good, good), body, []string{"s3cret"}, ErrSignature},
		{"header twice, one wrong", one("sha256="+strings.Repeat("0", 64), good), body, []string{"s3cret"}, ErrSignature},
		{"one digit short", one(good[:len(good)-1]), body, []string{"s3cret"}, ErrSignature},
		{"one byte short", one(good[:len(good)-2]), body, []string{"s3cret"}, ErrSignature},
		{"one byte long", one(good + "00"), body, []string{"s3cret"}, ErrSignature},
		{"first byte only", one(good[:len("sha256=")+2]), body, []string{"s3cret"}, ErrSignature},
		{"no hex", one("sha256=" + strings.Repeat("z", 64)), body, []string{"s3cret"}, ErrSignature},
		{"0x before the digest", one("sha256=0x" + digest[2:]), body, []string{"s3cret"}, ErrSignature},
		{"full-width digits", one("sha256=" + strings.Repeat("０", 64)), body, []string{"s3cret"}, ErrSignature},
		{"zeros", one("sha256=" + strings.Repeat("0", 64)), body, []string{"s3cret"}, ErrSignature},
		{"base64", one("sha256=dXEH6g6yUJ/CESIczphLijdXC211hsIsRvQ3nIsEPhc="), body, []string{"s3cret"}, ErrSignature},
		{"a megabyte of digits", one("sha256=" + strings.Repeat("ab", 1<<19)), body, []string{"s3cret"}, ErrSignature},
		{"last digit changed", one(flip(good)), body, []string{"s3cret"}, ErrSignature},

		{"other secret", one(Sign("other", []byte(body))), body, []string{"s3cret"}, ErrSignature},
		{"secret in other case", one(Sign("S3CRET", []byte(body))), body, []string{"s3cret"}, ErrSignature},
		{"secret with a line end", one(Sign("s3cret\n", []byte(body))), body, []string{"s3cret"}, ErrSignature},
		{"digest used as secret", one(Sign(digest, []byte(body))), body, []string{"s3cret"}, ErrSignature},
		{"secrets joined", one(Sign("news3cret", []byte(body))), body, []string{"new", "s3cret"}, ErrSignature},
		{"a third secret", one(Sign("old", []byte(body))), body, []string{"new", "s3cret"}, ErrSignature},

		{"body changed", one(good), strings.Replace(body, "1", "2", 1), []string{"s3cret"}, ErrSignature},
		{"body with a line end", one(good), body + "\n", []string{"s3cret"}, ErrSignature},
		{"body cut", one(good), body[:len(body)-1], []string{"s3cret"}, ErrSignature},
		{"body empty", one(good), "", []string{"s3cret"}, ErrSignature},
		{"body with a byte order mark", one(good), "\ufeff" + body, []string{"s3cret"}, ErrSignature},
		{"body spaced otherwise", one(good), strings.ReplaceAll(body, ":", ": "), []string{"s3cret"}, ErrSignature},
		{"signature of the decoded form", one(good), "payload=" + body, []string{"s3cret"}, ErrSignature},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := Verify(c.header, []byte(c.body), c.secrets...); !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// flip changes the last digit.
func flip(s string) string {
	last := byte('0')
	if s[len(s)-1] == '0' {
		last = '1'
	}
	return s[:len(s)-1] + string(last)
}

func TestPayload(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, contentType, body string
		want                    string
		err                     error
	}{
		{"json", "application/json", body, body, nil},
		{"json with charset", "application/json; charset=utf-8", body, body, nil},
		{"json with space around", "application/json", "\n " + body + "\n", body, nil},
		{"form", "application/x-www-form-urlencoded", "payload=%7B%22a%22%3A1%7D", `{"a":1}`, nil},
		{"form with plus and more members", "application/x-www-form-urlencoded", "x=1&payload=%7B%22a%22%3A+1%7D", `{"a": 1}`, nil},
		{"no type", "", body, "", ErrContentType},
		{"text", "text/plain", body, "", ErrContentType},
		{"broken type", "application/;;", body, "", ErrContentType},
		{"multipart", "multipart/form-data; boundary=x", body, "", ErrContentType},
		{"empty", "application/json", "", "", ErrPayload},
		{"null", "application/json", "null", "", ErrPayload},
		{"empty object", "application/json", "{}", "", ErrPayload},
		{"empty object with space", "application/json", "{ \n}", "", ErrPayload},
		{"list", "application/json", "[{}]", "", ErrPayload},
		{"string", "application/json", `"{}"`, "", ErrPayload},
		{"two objects", "application/json", `{"a":1}{"b":2}`, "", ErrPayload},
		{"cut", "application/json", body[:20], "", ErrPayload},
		{"form as json", "application/json", "payload=%7B%7D", "", ErrPayload},
		{"json as form", "application/x-www-form-urlencoded", body, "", ErrPayload},
		{"form without payload", "application/x-www-form-urlencoded", "a=b", "", ErrPayload},
		{"form with two payloads", "application/x-www-form-urlencoded", "payload=%7B%22a%22%3A1%7D&payload=%7B%22a%22%3A2%7D", "", ErrPayload},
		{"form with broken escapes", "application/x-www-form-urlencoded", "payload=%7", "", ErrPayload},
		{"deep", "application/json", strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000), "", ErrPayload},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Payload(c.contentType, []byte(c.body))
			if string(got) != c.want || !errors.Is(err, c.err) || (c.err == nil) != (err == nil) {
				t.Errorf("got %q, %v; want %q, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestReadEnvelope(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	h.Set("X-GitHub-Event", "push")
	h.Set("X-GitHub-Delivery", "72D3162E-CC78-11E3-81AB-4C9367DC0958")
	h.Set("X-GitHub-Hook-ID", "292430182")
	h.Set("X-GitHub-Hook-Installation-Target-Type", "repository")
	h.Set("X-GitHub-Hook-Installation-Target-ID", "79929171")
	got, err := ReadEnvelope(h)
	want := Envelope{Event: "push", Delivery: "72d3162e-cc78-11e3-81ab-4c9367dc0958", HookID: "292430182", TargetType: "repository", TargetID: "79929171"}
	if err != nil || got != want {
		t.Fatalf("got %+v, %v", got, err)
	}
	for _, c := range []struct{ name, value string }{
		{"X-GitHub-Event", ""},
		{"X-GitHub-Event", "push\x00"},
		{"X-GitHub-Event", strings.Repeat("a", 101)},
		{"X-GitHub-Event", "a b"},
		{"X-GitHub-Delivery", ""},
		{"X-GitHub-Delivery", "a'b"},
		{"X-GitHub-Delivery", strings.Repeat("a", 101)},
		{"X-GitHub-Delivery", "é"},
	} {
		bad := h.Clone()
		bad.Set(c.name, c.value)
		if _, err := ReadEnvelope(bad); !errors.Is(err, ErrHeaders) {
			t.Errorf("%s %q: got %v", c.name, c.value, err)
		}
	}
	h.Set("X-GitHub-Hook-ID", "not a number'")
	if got, err = ReadEnvelope(h); err != nil || got.HookID != "" {
		t.Errorf("an odd optional header: got %+v, %v", got, err)
	}
}
