// Package recall finds memories by what they say. It is pure: it tokenises, plans, ranks, abstains and keeps to a token
// budget, and reads memories through Source, which the data layer and the in-process Index implement. Nothing here knows
// a database or a clock.
//
// # How a search runs
//
//  1. Query and memories go through the same tokeniser (Terms): compound tokens whole and split, stop words out, English
//     stems (Snowball).
//  2. Source.Stats gives document frequencies. A project of at most Params.Small memories is scored whole.
//  3. Candidates: the rarest terms first while their frequencies add up to at most Params.Candidates, then, unless the
//     bound proves the result exact, conjunctions of the common terms left over.
//  4. BM25F over title and body (Robertson, Zaragoza, Taylor: Simple BM25 extension to multiple weighted fields, 2004).
//  5. The best get the context of their session: the neighbours' scores and a window of six memories either side as one
//     document.
//  6. Multipliers: completeness, stale, age, a skill's success, the type that a question of this form asks for.
//  7. Versions of one thing: the one of the time that is asked about goes first, the others behind other things.
//  8. Relevance and abstention.
//
// # Promise
//
// The relevance returned is the number sorted by. A search that found nothing relevant says so in Result.Nothing; an
// outage is an error of the Source and never an empty result. The same input gives the same order: ties go to the newer
// memory. Vocabulary changes of the tokeniser raise TokeniserVersion, upon which memories are indexed again.
package recall
