//go:build !linux

package embedpg

// postmasterRuns reports whether pid may be the server of dataDir. Without /proc nothing tells a server
// from a stranger that got its number, so any live process counts; Postgres itself looks at its shared
// memory as well.
func postmasterRuns(pid int, _ string) bool { return processExists(pid) }

// serverProcesses is empty: orphans cannot be found without /proc.
func serverProcesses(string) []int { return nil }
