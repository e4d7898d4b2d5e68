package coord_test

import (
	"testing"

	"github.com/agent-coordinator/agent-coordinator/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
