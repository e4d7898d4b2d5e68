package mcpstdio

import "testing"

func benchmarkEcho(b *testing.B, blocked int) {
	f := newFixture()
	c := start(b, New(f.mcp))
	for id := range blocked {
		c.call(id, "block", "")
	}
	for range blocked {
		recv(b, f.entered)
	}
	id := blocked
	b.ReportAllocs()
	for b.Loop() {
		c.call(id, "echo", "")
		c.result(id)
		id++
	}
	b.StopTimer()
	f.free()
}

// BenchmarkEcho is one round trip of a tool call.
func BenchmarkEcho(b *testing.B) { benchmarkEcho(b, 0) }

// BenchmarkEchoBeside200 is the same while 200 calls are blocked.
func BenchmarkEchoBeside200(b *testing.B) { benchmarkEcho(b, 200) }

// BenchmarkProgress is one notification of a burst, from the handler to the
// client.
func BenchmarkProgress(b *testing.B) {
	c := start(b, New(newFixture().mcp, WithQuietGap(0)))
	c.initialize("2025-06-18")
	for b.Loop() {
		c.call(1, "progress", `"n":1000`)
		for range 1000 {
			c.notification("notifications/progress")
		}
		c.result(1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/notification")
}
