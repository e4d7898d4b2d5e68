package embedpg

// dbUser is the account that runs Postgres: always the caller on Windows, where pg_ctl itself gives up an
// administrator's rights.
type dbUser struct {
	name string
	drop bool
}

func chooseUser(string) (dbUser, error) { return dbUser{}, nil }

func (u dbUser) own(string) error { return nil }

func canEnter(dbUser, string) bool { return true }

func mustBeOurs(string) error { return nil }
