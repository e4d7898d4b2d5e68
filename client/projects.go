package client

// Project is one namespace of locks, work and memory.
type Project struct {
	Project      string       `json:"project" doc:"its name"`
	CreatedAt    string       `json:"created_at"`
	AnonRead     bool         `json:"anon_read" doc:"readable without a login through the Data API"`
	LastActivity string       `json:"last_activity,omitempty" doc:"when an agent called last, RFC 3339 UTC"`
	Repositories []Repository `json:"repositories"`
}

// Repository is one repository of a project.
type Repository struct {
	Repository string `json:"repository" doc:"its name within the project"`
	Remote     string `json:"remote,omitempty" doc:"normalised remote: host/owner/name"`
	RootCommit string `json:"root_commit,omitempty"`
}

// Projects is a list of projects, by name.
type Projects struct {
	Projects []Project `json:"projects"`
	Count    int       `json:"count"`
}

// GetProject names a project.
type GetProject struct {
	Project string `json:"project,omitempty" maxLength:"120" doc:"default: the caller's"`
}

// ResolveRepository says what a checkout knows about itself. At least one of remote, root_commit and name is needed.
type ResolveRepository struct {
	Remote     string `json:"remote,omitempty" maxLength:"500" doc:"normalised remote: host/owner/name"`
	RootCommit string `json:"root_commit,omitempty" maxLength:"64" pattern:"^[0-9a-f]{7,64}$" doc:"first commit of the history"`
	Name       string `json:"name,omitempty" maxLength:"200" doc:"name for a repository seen for the first time"`
	Project    string `json:"project,omitempty" maxLength:"120" doc:"put it in this project instead of one of its own"`
}

// ResolvedRepository is where a checkout belongs.
type ResolvedRepository struct {
	Success      bool   `json:"success"`
	ProjectID    int64  `json:"project_id"`
	Project      string `json:"project"`
	RepositoryID int64  `json:"repository_id"`
	Repository   string `json:"repository"`
}
