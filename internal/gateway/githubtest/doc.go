// Package githubtest is a GitHub for tests: repositories, branches, pull requests, Actions, statuses, check runs, hooks and
// their deliveries, kept in memory behind an HTTP server, with the caps, limits and failures that matter to the gateway.
//
// # Fidelity
//
// Every request is checked against GitHub's published OpenAPI description, names of query parameters and body members
// included; every answer as well, so that no member here is an invention. A violation fails the test. What the
// description does not say is as GitHub documents it: 30 entries a page and 100 at most, 3000 files of a pull request, 300
// of a comparison and only on its first page, 1000 statuses for a commit and context, 140 characters of a description,
// check runs for Apps only, webhooks signed, delivered once and listed for redelivery.
//
// A repository can have a bare git repository behind it (Repo.Dir); then heads, files, commits and trees come from git.
package githubtest
