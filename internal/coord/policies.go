package coord

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
	"github.com/agent-coordinator/agent-coordinator/internal/route"
)

// defaultTrust is the author's in a simulation that does not say.
const defaultTrust = 2

// routerCache keeps the compiled policies of each project until their set changes.
type routerCache struct {
	mu      sync.Mutex
	routers map[int64]cachedRouter
}

type cachedRouter struct {
	version int64
	router  *route.Router
}

// Router returns the project's policies, compiled. Each call reads the number of the set, and the set when that is new,
// so a change of a policy counts from its commit on.
func (s *Store) Router(ctx context.Context, project int64) (*route.Router, error) {
	version, err := one[int64](ctx, s, `select coord.policy_version($1)`, project)
	if err != nil {
		return nil, err
	}
	return s.RouterOf(ctx, project, version)
}

// RouterOf is Router for who knows the number of the set.
func (s *Store) RouterOf(ctx context.Context, project, version int64) (*route.Router, error) {
	s.routers.mu.Lock()
	known, ok := s.routers.routers[project]
	s.routers.mu.Unlock()
	if ok && known.version == version {
		return known.router, nil
	}
	set, err := s.policies(ctx, project)
	if err != nil {
		return nil, err
	}
	router, err := route.Compile(set.Policies)
	if err != nil {
		return nil, policyFault(err)
	}
	s.routers.mu.Lock()
	defer s.routers.mu.Unlock()
	if s.routers.routers == nil {
		s.routers.routers = map[int64]cachedRouter{}
	}
	s.routers.routers[project] = cachedRouter{set.SetVersion, router}
	return router, nil
}

func (s *Store) policies(ctx context.Context, project int64) (client.Policies, error) {
	return reply[client.Policies](ctx, s, `select coord.list_policies($1)`, project)
}

// ListPolicies lists the project's policies in the order they run, disabled ones too.
func (s *Store) ListPolicies(ctx context.Context, c ident.Caller) (client.Policies, error) {
	return s.policies(ctx, c.ProjectID)
}

// GetPolicy reads a policy by name or id. Codes: not_found.
func (s *Store) GetPolicy(ctx context.Context, c ident.Caller, in client.PolicyRef) (client.VerificationPolicy, error) {
	return reply[client.VerificationPolicy](ctx, s, `select coord.get_policy($1, $2)`, c.ProjectID, in.Name)
}

// PolicyHistory reads the versions of a policy, newest first. Codes: not_found.
func (s *Store) PolicyHistory(ctx context.Context, c ident.Caller, in client.PolicyHistory) (client.PolicyVersions, error) {
	return reply[client.PolicyVersions](ctx, s, `select coord.policy_history($1, $2, $3)`, c.ProjectID, in.Name, max(in.Limit, 1))
}

// CreatePolicy makes a policy. Codes: invalid, conflict (the name is taken).
func (s *Store) CreatePolicy(ctx context.Context, c ident.Caller, in client.CreatePolicy) (client.VerificationPolicy, error) {
	return s.putPolicy(ctx, c, in.Name, 0, in, true)
}

// UpdatePolicy changes a policy. Codes: invalid, not_found, conflict (changed since the version sent).
func (s *Store) UpdatePolicy(ctx context.Context, c ident.Caller, in client.UpdatePolicy) (client.VerificationPolicy, error) {
	version := in.Version
	in.Version = 0
	return s.putPolicy(ctx, c, in.Name, version, in, false)
}

// DisablePolicy takes a policy out of use; its versions stay. Codes: not_found.
func (s *Store) DisablePolicy(ctx context.Context, c ident.Caller, in client.PolicyRef) (client.VerificationPolicy, error) {
	off := false
	return s.putPolicy(ctx, c, in.Name, 0, client.UpdatePolicy{Name: in.Name, PolicyRest: client.PolicyRest{Enabled: &off}}, false)
}

// putPolicy stores a policy and then checks it whole, as routing will compile it: what is wrong rolls the change back.
func (s *Store) putPolicy(ctx context.Context, c ident.Caller, name string, version int, in any, create bool) (client.VerificationPolicy, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return client.VerificationPolicy{}, err
	}
	var out client.VerificationPolicy
	err = s.InTx(ctx, func(ctx context.Context) error {
		if out, err = reply[client.VerificationPolicy](ctx, s, `select coord.put_policy($1, $2, $3, $4, $5, $6)`,
			c.ProjectID, c.By, name, raw, create, version); err != nil {
			return err
		}
		return policyFault(route.Check(out))
	})
	return out, err
}

// SimulatePolicies routes a change that nobody made, by the code and the policies that route real ones.
func (s *Store) SimulatePolicies(ctx context.Context, c ident.Caller, in client.SimulatePolicies) (client.RouteDecision, error) {
	router, err := s.Router(ctx, c.ProjectID)
	if err != nil {
		return client.RouteDecision{}, err
	}
	trust := defaultTrust
	if in.TrustLevel != nil {
		trust = *in.TrustLevel
	}
	return router.Route(route.Change{
		Repository: in.Repository, Branch: in.Branch, Files: in.Files, Truncated: in.Truncated, TrustLevel: trust, PriorFailures: in.PriorFailures,
		Fork: in.Fork, Draft: in.Draft, UnavailableExecutors: in.UnavailableExecutors, LockViolations: in.LockViolations,
	}), nil
}

// policyFault turns what is wrong with a policy into a fault; nil stays nil.
func policyFault(err error) error {
	var wrong *route.PolicyError
	if errors.As(err, &wrong) {
		return fault.Invalid(wrong.Field, wrong.Field+" "+wrong.What, "correct the policy; nothing was changed")
	}
	return err
}
