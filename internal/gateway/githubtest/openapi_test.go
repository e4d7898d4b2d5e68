package githubtest

import (
	"bytes"
	"os"
	"testing"
)

const descriptionFile = "testdata/github.openapi.json"

// TestGoldenDescription compares the committed description with GitHub's whole one where that is at hand:
// GITHUB_OPENAPI names api.github.com.json of the npm package @octokit/openapi.
func TestGoldenDescription(t *testing.T) {
	t.Parallel()
	path := os.Getenv("GITHUB_OPENAPI")
	if path == "" {
		t.Skip("GITHUB_OPENAPI is not set: the committed description is used as it is")
	}
	full, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Trim(full)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(descriptionFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(descriptionFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what %s gives (%v); run UPDATE_GOLDEN=1 GITHUB_OPENAPI=%s go test ./internal/gateway/githubtest -run Golden", descriptionFile, path, err, path)
	}
}

func TestDescriptionIsComplete(t *testing.T) {
	t.Parallel()
	ops, err := operations()
	if err != nil {
		t.Fatal(err)
	}
	if len(ops) != len(Operations) {
		t.Errorf("%d operations of %d", len(ops), len(Operations))
	}
}
