package world

// register is a way of writing.
type register int

const (
	prose register = iota
	terse
	logline
	commit
	diff
)

// template renders an event. bare ones do not name the subject: they follow an earlier memory of the same story.
type template struct {
	reg          register
	sum          string
	lesson       string
	key, details string
	bare         bool
}

// templates of each event type. Slots are filled in render.go.
var templates = map[Kind][]template{
	Config: {
		{reg: prose, sum: "Set the {rel} of the {cmp} to {new}, previously {old}, since {why}", lesson: "keep {sym} at {new} unless load changes"},
		{reg: terse, sum: "{sym}: {rel} {old} -> {new}"},
		{reg: diff, sum: "{rel} changed in {slug}.yaml", key: "diff", details: "{slug}:\n-  {key}: {old}\n+  {key}: {new}"},
		{reg: logline, sum: "level=info op=configure target={slug} {key}={new} was={old}"},
		{reg: prose, sum: "The {cmp} runs with {rel} {new} from today", lesson: "{old} hurt: {why}"},
		{reg: commit, sum: "chore({slug}): {rel} {new} (was {old})", key: "body", details: "{why}"},
		{reg: terse, sum: "raised the {rel} to {new}, was {old}", bare: true},
		{reg: prose, sum: "Changed the {rel} to {new} after review because {why}", bare: true},
	},
	Ownership: {
		{reg: prose, sum: "{new} is the owner of the {cmp} now", lesson: "ask {new} for review of {path}"},
		{reg: terse, sum: "{sym} maintainer: {new} (before: {old})"},
		{reg: diff, sum: "CODEOWNERS for {path}", key: "diff", details: "-{path} {old}\n+{path} {new}"},
		{reg: logline, sum: "owner of {slug} set to {new}"},
		{reg: commit, sum: "docs: {cmp} is maintained by {new}"},
		{reg: prose, sum: "{new} took over from {old} as maintainer", bare: true},
	},
	Decision: {
		{reg: prose, sum: "Decided: the {cmp} uses {new} as its {rel}, not {old}", lesson: "chosen because {why}"},
		{reg: terse, sum: "{sym} {rel} = {new}; {old} rejected"},
		{reg: commit, sum: "feat({slug})!: {rel} becomes {new}", key: "body", details: "replaces {old}; {why}"},
		{reg: logline, sum: "ADR accepted: {cmp}, {rel}: {new}"},
		{reg: prose, sum: "We settled on {new} for the {rel} of the {cmp}", lesson: "{old} lost: {why}"},
		{reg: diff, sum: "{rel} in adr/{slug}.md", key: "diff", details: "-{rel}: {old}\n+{rel}: {new}"},
		{reg: terse, sum: "going with {new} over {old}, {why}", bare: true},
	},
	Dependency: {
		{reg: prose, sum: "Bumped {lib} from {old} to {new}", lesson: "read its changelog: {why}"},
		{reg: diff, sum: "go.mod: {lib}", key: "diff", details: "-\t{lib} {old}\n+\t{lib} {new}"},
		{reg: terse, sum: "{lib} {old} -> {new}, tests pass"},
		{reg: commit, sum: "build(deps): {lib} {new} (was {old})"},
		{reg: logline, sum: "dependency {lib} pinned at {new}"},
		{reg: prose, sum: "{lib} {new} is in, upgrade from {old} went through"},
	},
	Adoption: {
		{reg: prose, sum: "The {cmp} depends on {new} from now on", lesson: "picked as {why}"},
		{reg: terse, sum: "{sym} imports {new}"},
		{reg: commit, sum: "feat({slug}): build on {new}"},
		{reg: diff, sum: "{path} imports", key: "diff", details: "+import {new}"},
		{reg: logline, sum: "added {new} for {slug}"},
		{reg: terse, sum: "pulled in {new} for this", bare: true},
	},
	Convention: {
		{reg: prose, sum: "Convention on {rel}: {new}", lesson: "reviewers reject anything else"},
		{reg: terse, sum: "{rel}: {new}, not {old}"},
		{reg: commit, sum: "docs(contributing): {rel}, {new}"},
		{reg: diff, sum: "CONTRIBUTING.md, {rel}", key: "diff", details: "-{old}\n+{new}"},
		{reg: logline, sum: "team agreed on {rel}: {new}"},
		{reg: prose, sum: "For {rel} we do it like this: {new}", lesson: "{old} is what we left, {why}"},
	},
	Works: {
		{reg: prose, sum: "To {rel}, use `{new}`", lesson: "works on a clean checkout"},
		{reg: terse, sum: "{rel}: `{new}` OK"},
		{reg: logline, sum: "$ {new}\nexit 0 ({rel})"},
		{reg: commit, sum: "ci: {rel} via {new}"},
		{reg: diff, sum: "README, how to {rel}", key: "diff", details: "-    {old}\n+    {new}"},
		{reg: terse, sum: "`{new}` does it instead", bare: true},
	},
	Fails: {
		{reg: prose, sum: "`{new}` no longer can {rel}: it {why}", lesson: "do not use `{new}`"},
		{reg: terse, sum: "{rel}: `{new}` FAILS, {why}"},
		{reg: logline, sum: "$ {new}\nexit 1 ({rel}), {why}"},
		{reg: commit, sum: "ci: {new} {why}, cannot {rel}"},
		{reg: diff, sum: "dropped from the Makefile ({rel})", key: "diff", details: "-    {new}  # {why}"},
	},
	BugReport: {
		{reg: prose, sum: "{cmp} {symptom} ({code})", lesson: "seen first by {agent}"},
		{reg: logline, sum: "level=error code={code} at={fn} msg=\"{slug} {symptom}\"", key: "stack", details: "{sym}.{fn} {path}"},
		{reg: terse, sum: "{code}: {sym} {symptom}"},
		{reg: commit, sum: "bug({slug}): {symptom}, {code}"},
		{reg: diff, sum: "failing test for {code}", key: "diff", details: "+func Test{sym}_{code}(t *testing.T) { // {symptom}"},
		{reg: prose, sum: "Reproduced {code}: {fn} in the {cmp} {symptom}", lesson: "happens on staging as well"},
	},
	BugCause: {
		{reg: prose, sum: "{code} in the {cmp} comes from {cause}", lesson: "look for {cause} when it {symptom}"},
		{reg: terse, sum: "{code} root cause: {cause} in {fn}"},
		{reg: logline, sum: "trace {path}: {cause} ({code})"},
		{reg: commit, sum: "analysis({slug}): {cause}", key: "body", details: "source of {code}, {symptom}"},
		{reg: prose, sum: "Root cause found in {sym}: {cause}", lesson: "why it {symptom}"},
		{reg: terse, sum: "it was {cause}", bare: true},
		{reg: prose, sum: "Bisected to {cause} in {fn}", bare: true},
	},
	BugFix: {
		{reg: prose, sum: "Fixed {code} of the {cmp}: {fix}", lesson: "{cause} was behind it"},
		{reg: terse, sum: "{code} fixed, {fix}"},
		{reg: commit, sum: "fix({slug}): {fix}", key: "body", details: "closes {code}"},
		{reg: diff, sum: "patch to {path}", key: "diff", details: "@@ {fn}\n+// {fix} ({code})"},
		{reg: logline, sum: "{code} verified in {slug}: {fix}"},
		{reg: terse, sum: "{fix}, regression test green", bare: true},
		{reg: prose, sum: "Solved it: {fix}", bare: true},
	},
	Observation: {
		{reg: prose, sum: "{fn} of the {cmp} {new}", lesson: "callers rely on it"},
		{reg: terse, sum: "{sym}.{fn} {new}"},
		{reg: logline, sum: "{path}: {fn} {new}"},
		{reg: commit, sum: "note({slug}): {fn} {new}"},
		{reg: diff, sum: "comment on {fn}", key: "diff", details: "+// {fn} {new}"},
		{reg: prose, sum: "Read {path}: {sym} {new}", lesson: "checked against the code"},
	},
	Milestone: {
		{reg: prose, sum: "The {new} is done", lesson: "all green since then"},
		{reg: terse, sum: "{new}: finished"},
		{reg: commit, sum: "chore: {new} complete"},
		{reg: logline, sum: "status={new} state=done"},
		{reg: diff, sum: "CHANGELOG: {new}"},
	},
	Rename: {
		{reg: prose, sum: "Renamed {old} to {new} in the {cmp}", lesson: "grep for {old} in scripts"},
		{reg: terse, sum: "{old} => {new} ({sym})"},
		{reg: diff, sum: "{path} rename", key: "diff", details: "-func {old}(\n+func {new}("},
		{reg: commit, sum: "refactor({slug}): {old} is {new}"},
		{reg: logline, sum: "gopls rename {old} {new} {path}"},
	},
	Revert: {
		{reg: prose, sum: "Reverted the {rel} of {subject}: back to {new} from {old}", lesson: "{old} did not survive staging"},
		{reg: terse, sum: "revert {subject} {rel}: {old} -> {new}"},
		{reg: commit, sum: "revert: {subject} {rel} {new} again", key: "body", details: "undoes {old}; {why}"},
		{reg: logline, sum: "rollback {slug} {rel} {old}->{new}"},
		{reg: diff, sum: "undone for {subject}: {rel}", key: "diff", details: "-{old}\n+{new}"},
		{reg: prose, sum: "{subject} is back on {rel} {new}", lesson: "tried {old}, {why}"},
	},
	Chatter: {
		{reg: prose, sum: "Looked through the {cmp}, nothing odd", lesson: "no action"},
		{reg: terse, sum: "{path}: read, skipped"},
		{reg: logline, sum: "go vet ./{slug}/... exit 0"},
		{reg: commit, sum: "style({slug}): gofumpt"},
		{reg: diff, sum: "whitespace in {path}"},
		{reg: prose, sum: "Rebased the work on {sym}, tests pass"},
		{reg: terse, sum: "{fn} covered by tests, coverage unchanged"},
		{reg: prose, sum: "Discussed {sym} in standup, postponed"},
	},
	Skill: {
		{reg: prose, sum: "{rel}", lesson: "Steps that worked here", key: "run", details: "{new}"},
		{reg: terse, sum: "how to {rel}", lesson: "short version", key: "run", details: "{new}"},
		{reg: commit, sum: "runbook, {rel}", lesson: "from the runbook", key: "run", details: "{new}"},
		{reg: logline, sum: "playbook: {rel}", lesson: "as executed", key: "run", details: "{new}"},
		{reg: diff, sum: "{rel} (recipe)", lesson: "recipe", key: "run", details: "{new}"},
	},
}

// typeNames are the event types as memories carry them.
var typeNames = map[Kind]string{
	Config: "config", Ownership: "ownership", Decision: "decision", Dependency: "dependency", Adoption: "dependency",
	Convention: "convention", Works: "command", Fails: "command", BugReport: "error", BugCause: "error", BugFix: "fix",
	Observation: "discovery", Milestone: "milestone", Rename: "refactoring", Revert: "revert", Chatter: "note", Skill: "skill",
}

// shorthand is what hurried writers shorten.
var shorthand = map[string]string{
	"connection": "conn", "because": "bc", "message": "msg", "service": "svc", "error": "err", "context": "ctx",
	"migration": "migr", "transaction": "tx", "configure": "cfg", "previously": "prev", "without": "w/o", "depends": "deps",
}
