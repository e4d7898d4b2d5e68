package mcpapi

import (
	"context"

	"github.com/agent-coordinator/agent-coordinator/internal/op"
)

// mapPaths makes the members of args that hold file paths repository-relative, in place. Values of other shapes are
// left for the operation to refuse.
func (d *Door) mapPaths(ctx context.Context, def *op.Def, args map[string]any) error {
	if d.opt.Paths == nil {
		return nil
	}
	for _, f := range def.PathFields {
		v, ok := args[f]
		if !ok {
			continue
		}
		mapped, err := d.mapPath(ctx, v)
		if err != nil {
			return err
		}
		args[f] = mapped
	}
	return nil
}

// pathMembers are the names under which objects in a list of paths hold theirs.
var pathMembers = []string{"path", "file_path"}

func (d *Door) mapPath(ctx context.Context, v any) (any, error) {
	switch x := v.(type) {
	case string:
		if x == "" {
			return x, nil
		}
		return d.opt.Paths.Relative(ctx, x)
	case []any:
		for i, e := range x {
			m, err := d.mapPath(ctx, e)
			if err != nil {
				return nil, err
			}
			x[i] = m
		}
	case map[string]any:
		if repo, ok := x["repository"].(string); ok && repo != "" { // a path of another repository is relative already
			return x, nil
		}
		for _, name := range pathMembers {
			if s, ok := x[name].(string); ok && s != "" {
				m, err := d.opt.Paths.Relative(ctx, s)
				if err != nil {
					return nil, err
				}
				x[name] = m
			}
		}
	}
	return v, nil
}
