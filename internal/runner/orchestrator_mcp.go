package runner

import "net/http"

func (r *Runner) mcpURL(j *job) string {
	return "http://" + r.mcp.Addr().String() + "/r/" + j.token + "/mcp"
}

func (r *Runner) orchestrator() (http.Handler, func()) { return http.NotFoundHandler(), func() {} }
