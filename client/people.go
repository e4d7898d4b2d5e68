package client

// CreatePerson registers a person, or gives a known one other roles.
type CreatePerson struct {
	Name  string   `json:"name" minLength:"1" maxLength:"200" pattern:"^[^\\s:]+$" doc:"short name without spaces, such as ana"`
	Roles []string `json:"roles" maxItems:"5" enum:"read,write,runner,reviewer,admin" doc:"the most that keys of this person may do"`
}

// Person is a human principal: keys stand for it and hold at most its roles.
type Person struct {
	Name      string   `json:"name"`
	Roles     []string `json:"roles"`
	Keys      int      `json:"keys" doc:"keys that are not revoked"`
	CreatedAt string   `json:"created_at"`
}

// CreatedPerson confirms it.
type CreatedPerson struct {
	Success   bool     `json:"success"`
	Created   bool     `json:"created" doc:"false: the person was known and has these roles now"`
	Name      string   `json:"name"`
	Roles     []string `json:"roles"`
	CreatedAt string   `json:"created_at"`
}

// Persons is a list of persons, by name.
type Persons struct {
	Persons []Person `json:"persons"`
	Count   int      `json:"count"`
}
