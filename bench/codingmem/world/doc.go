// Package world generates what the CodingMem benchmark searches: projects in which agents of several vendors work, the
// log of what happened there, the memories they wrote about it, and questions with their answers.
//
// # Where the truth comes from
//
// The log of typed events comes first (simulate.go): a state per project is changed by events in the order of time, and
// each event remembers what it changed. Text is rendered from events afterwards (render.go), questions are made from the
// log (questions.go). Nothing here reads a ranking, and nothing reads text to learn what is true.
//
// # What keeps it from being a word game
//
// Memories and questions are rendered from different templates over different columns of the same tables: Doc words are
// only ever written into memories, Ask words only into questions, and a test checks that the two share no stem. What a
// question does share with its answer are names (of components, settings, codes), and a slice of the questions shares
// nothing at all.
//
// # Frozen
//
// The package was frozen before any ranking was tuned on it. The seeds of the test worlds are derived from a digest of
// these files (package main, seeds.go), so a change here changes the test worlds too, and a test names the digest.
package world
