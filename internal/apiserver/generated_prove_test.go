//go:build prove

package apiserver

import (
	"fmt"
	"testing"
)

// TestProveGeneratedRequests asks for much more, with other seeds.
func TestProveGeneratedRequests(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed+100), func(t *testing.T) { probeAPI(t, seed+100, 20, 8) })
	}
}
