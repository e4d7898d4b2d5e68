package embedpg

// socketDir is empty: servers on Windows are reached over loopback.
func socketDir(layout, dbUser) (string, error) { return "", nil }
