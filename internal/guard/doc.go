// Package guard makes locks hold for agents that never ask for one. It stands in three places:
//
//   - before an edit, as a hook of the coding host (Claude Code, Codex, Cursor): it reads which paths the tool call would
//     write, takes their locks for the session, or refuses the call and says who holds them;
//   - after a call: it looks at what git says changed in the working tree, whatever wrote it, and reports changes of
//     paths that another session holds;
//   - at the commit and the push, as a git hook.
//
// # What it promises
//
// A path is judged by where it really lies: relative to the working tree it is in, symlinks resolved, whatever the
// working directory. What a shell command writes is read conservatively: only writes that the text shows for certain are
// refused beforehand, everything else is caught afterwards. So an ordinary command is never refused by mistake.
//
// # Failure
//
// When the coordinator cannot be asked the guard fails as it was told to: open (the call goes on, and both the agent and
// the person read that nothing was checked) or closed (the call is refused). It never fails silently.
package guard
