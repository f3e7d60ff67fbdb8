package streams

// Role is the part that a topic plays for one application.
type Role string

// The roles. Lookalike is a topic that is named like one of the application's
// internal topics and is not proven to be: it is shown and never touched.
const (
	RoleInput       Role = "input"
	RoleOutput      Role = "output"
	RoleChangelog   Role = "changelog"
	RoleRepartition Role = "repartition"
	RoleGlobal      Role = "global"
	RoleLookalike   Role = "lookalike"
)
