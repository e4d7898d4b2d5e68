package config

import "testing"

// FuzzLoad: settings are refused, or what was read of them is in its bounds.
func FuzzLoad(f *testing.F) {
	f.Add("postgres://u:p@h/d", "30", "http://a, ,*")
	f.Add("", "1e9", "\x00")
	f.Add("%%", "2m", ",")
	f.Fuzz(func(t *testing.T, url, seconds, list string) {
		c, err := LoadFrom[API](map[string]string{"COORD_DATABASE_URL": url, "RUN_CLAIM_LEASE": seconds, "CORS_ORIGINS": list, "COORDINATION_API_KEYS": list})
		if err != nil {
			return
		}
		if c.ClaimLease.D() < 0 {
			t.Fatalf("%q is %s", seconds, c.ClaimLease.D())
		}
		for _, v := range append(c.Origins(), c.KeyList()...) {
			if v == "" {
				t.Fatalf("%q has an empty member", list)
			}
		}
	})
}
