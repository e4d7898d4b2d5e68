package op

import (
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
	"github.com/agent-coordinator/agent-coordinator/internal/ident"
)

// Check does to args in place what Pipeline.Call does before it runs d: identity members go into the claim, a request
// key is taken out and returned, old spellings are mapped, and the rest is validated, unknown members refused. It is for
// a door whose operations run elsewhere.
func (d *Def) Check(args map[string]any, claim *ident.Claim) (requestKey string, _ *fault.Error) {
	if err := d.takeIdentity(args, claim); err != nil {
		return "", err
	}
	requestKey, err := d.takeKey(args, "")
	if err != nil {
		return "", err
	}
	_, err = d.prepare(args, true)
	return requestKey, err
}
