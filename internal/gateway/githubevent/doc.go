// Package githubevent reads what GitHub sends to a webhook: who signed it, what it holds, and what it means to the
// gateway. It is pure: no network, no database, no clock.
//
// # Promises
//
// Verify accepts a body only under HMAC-SHA256 and one of the given secrets, in constant time; the old SHA-1 signature is
// never looked at, and without a secret nothing is accepted. Payload finds the JSON in both content types that GitHub can
// be told to use. Parse reads the few members that we use and no others, so a payload with a malformed date, a deleted
// fork or members of next year is still read.
//
// # Failure
//
// Parse tells three things apart: an event that means something (Kind), an event that is none of our business (KindIgnored
// with the reason in Ignored), and a body that lacks what its event must have (ErrMalformed). Reading the same bytes again
// gives the same answer, so only a changed program can do better with a malformed one.
//
// # Trust
//
// A signature proves that GitHub sent the bytes. Names, branches, titles and comments inside them were still written by
// whoever opened the pull request.
package githubevent
