package coord

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// CreatePerson registers a person or changes the roles of a known one. Persons belong to the installation: a key that
// is bound to a project may not touch them.
func (s *Store) CreatePerson(ctx context.Context, c ident.Caller, in client.CreatePerson) (client.CreatedPerson, error) {
	if err := unbound(c); err != nil {
		return client.CreatedPerson{}, err
	}
	defer s.forgetKeys() // roles cap keys
	return reply[client.CreatedPerson](ctx, s, `select coord.create_person($1, $2, $3, $4)`, c.ProjectID, c.By, in.Name, in.Roles)
}

// ListPersons lists every person.
func (s *Store) ListPersons(ctx context.Context, c ident.Caller) (client.Persons, error) {
	if err := unbound(c); err != nil {
		return client.Persons{}, err
	}
	return reply[client.Persons](ctx, s, `select coord.list_persons()`)
}

func unbound(c ident.Caller) error {
	if c.Bound {
		return fault.New(client.CodeForbidden, "this key may not see or change persons", "it is bound to one project; persons belong to the whole installation",
			"use an administrator's key that is good for every project")
	}
	return nil
}
