package world

import "time"

// Class is a kind of question.
type Class string

// The eight classes, and the questions about code that changed, which are counted apart.
const (
	Exact      Class = "exact"
	Paraphrase Class = "paraphrase"
	Temporal   Class = "temporal"
	Evolving   Class = "evolving"
	MultiHop   Class = "multi-hop"
	CrossAgent Class = "cross-agent"
	Procedural Class = "procedural"
	Absence    Class = "absence"
	Freshness  Class = "freshness"
)

// Answerable are the classes whose questions have an answer.
var Answerable = []Class{Exact, Paraphrase, Temporal, Evolving, MultiHop, CrossAgent, Procedural}

// Size says how large a world is.
type Size struct {
	Projects, Sessions int // sessions is the mean of a project
	Events             int // the mean of a session
	PerClass           int // questions per class and project
}

// The sizes in use.
var (
	Full  = Size{Projects: 20, Sessions: 60, Events: 20, PerClass: 6}
	Quick = Size{Projects: 6, Sessions: 30, Events: 16, PerClass: 6}
	Store = Size{Projects: 4, Sessions: 24, Events: 16, PerClass: 6}
)

// World is everything of one seed.
type World struct {
	Seed     uint64
	Start    time.Time
	End      time.Time // when the questions are asked
	Projects []*Project
}

// Project is one namespace: its memories in the order of time, and the questions asked in it.
type Project struct {
	Name      string
	Log       []*Event
	Memories  []*Memory
	Questions []*Question
	Digests   map[string]string // of every file at the end
}

// Kind is the type of an event.
type Kind int

// Event types.
const (
	Config Kind = iota
	Ownership
	Decision
	Dependency
	Adoption // a component starts to use a library
	Convention
	Works // a command works
	Fails // a command fails
	BugReport
	BugCause
	BugFix
	Observation // of code, bound to a file and its digest
	Milestone
	Rename
	Revert // of a config value, decision or dependency
	Chatter
	Skill // not an event of the log but a note on how to do something, of the procedural layer
)

// Event is one entry of the log.
type Event struct {
	ID       int
	Kind     Kind
	At       time.Time
	Session  int // place of the session in the project
	Agent    string
	Vendor   string
	Comp     *Component // nil: about the project
	Fact     string     // identity of the fact's subject and relation: all its versions share it
	Rel      int        // row of the table that Kind belongs to
	Old, New string     // the value before and after, as memories write it
	Version  int        // of the fact, from 1; two statements of one version say the same
	Restates *Event     // the event this one merely says again
	Fn       string     // the function's name at that time
	Bug      *Bug
	Why      string
	Digest   string // Observation and some others: of the file as seen
	Bound    bool   // the memory names file and digest
	First    bool   // first of its story in the session, so the subject must be named
}

// Bug is what the three events of a bug are about.
type Bug struct {
	Code                string
	Symptom, Cause, Fix int
}

// Memory is what an agent wrote about an event.
type Memory struct {
	ID      int64 // place in the project's order of time, from 1
	Event   *Event
	Session int
	Seq     int
	Skill   bool
	Success int // percent, of a skill

	EventType, Summary string
	Lessons            []string
	Details            map[string]string
	Outcome            string
	Tags               []string
	Path, Digest       string
	Stale              bool // bound to a digest that is not the file's last
}

// Fact is one thing a complete answer says. Any of its statements will do.
type Fact struct {
	Best []int64 // memories that state it, grade 2
	Also []int64 // memories that touch it or say it again later, grade 1
}

// Question is one question and its answer.
type Question struct {
	ID    string
	Class Class
	Text  string
	Agent string
	Facts []Fact // none: nothing in the project answers it
	// Latest and Older order an evolving fact: of all these, one of Latest has to come first.
	Latest, Older []int64
	// Outdated are statements about the asked code that are no longer true.
	Outdated []int64
	// Foreign marks a question about something that only another project knows.
	Foreign bool
}
