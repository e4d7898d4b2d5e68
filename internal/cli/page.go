package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/local"
)

// pageLink asks the API for a link to the page that logs in once, without the key being typed. Where there is none, the
// page itself is named: it asks for the key.
func pageLink(ctx context.Context, u local.Up) string {
	page := u.APIURL + "/ui/"
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.APIURL+"/ui/link", nil)
	if err != nil {
		return page
	}
	req.Header.Set("X-Api-Key", u.APIKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return page
	}
	defer res.Body.Close()
	var out struct {
		Path string `json:"path"`
	}
	if json.NewDecoder(res.Body).Decode(&out) != nil || out.Path == "" {
		return page
	}
	return u.APIURL + out.Path
}
