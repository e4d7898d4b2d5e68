// Package lockpath decides what a lock's path means: it cleans the spelling, tells files, directories, globs and
// logical keys apart, and compiles globs for the database. It is pure: no file system, no database.
//
// # Spelling
//
// Paths are relative to their repository's root, written with "/", Unicode NFC, case-sensitive, at most 1024 bytes.
// "./a", "x/../a" and "a//b" are cleaned, so that one file has one name. Refused are: empty paths, invalid UTF-8,
// control characters, backslashes, absolute paths ("/x", "~/x", "C:\x", "\\host\x") and paths that leave the
// repository ("../x").
//
// "@name//path" is a path in the project's repository called name; without it the path is in the caller's own.
//
// # Kinds
//
//   - "a/b.go" is one file.
//   - "a/" is everything in a directory; so are "a/**" and "a/.". "." is the whole repository.
//   - A path with *, ?, [..] or {..,..} is a glob. "*" and "?" stay within one name, "**" as a whole name spans any
//     number of directories, none too. "*" matches names that begin with a dot. A glob that ends in "/" means
//     everything in the directories that it matches.
//   - Braces are expanded: each alternative is a key of its own, at most 64 together. Braces without a comma are
//     ordinary characters ("{{cookiecutter.name}}").
//   - Brackets are ambiguous: "app/[id]/page.tsx" is a glob and a file's real name. Both are locked: the class and
//     the name. They count towards the 64.
//   - "word:rest" (api:GET /users/{id}, db:migration-slot, build-slot:1) is a logical key: any resource that is no
//     file. The word has 2 to 32 lower-case letters, digits, "-" or "_" and begins with a letter. Logical keys are
//     compared as they stand, are shared by all repositories of a project, and know no patterns. A file whose name
//     looks like one is written "./word:rest".
//
// # Overlap
//
// Meet is exact between files, directories and globs, with one deliberate exception: the file "a" and the directory
// "a/" overlap, since one of the two spellings must be a mistake. The SQL function coord.lock_meet decides the same.
package lockpath
