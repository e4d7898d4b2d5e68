// Package github speaks GitHub's REST interface for the gateway: which files a change changes, who wrote it, who may
// approve it, what is shown on its commit, which deliveries to send again, and how workflows run. It fills
// gateway.Forge, gateway.Redeliverer and the Actions of the github executor.
//
// # Credentials
//
// A token (classic or fine-grained) shows commit statuses. An App's private key makes tokens for each installation and
// shows check runs, which only an App may write. With both, the App is used.
//
// # Promises
//
// Nothing is deleted, and nothing is written but statuses, check runs, dispatches, cancellations and redeliveries. A file
// list that reached one of GitHub's caps, or that may be of another head than was asked for, is reported as truncated. An
// answer that says "wait" (403 or 429 with a limit) or nothing at all is an error that means "cannot tell now"; the client
// sends nothing more until the time GitHub named. What GitHub can never show is gateway.ErrGone.
package github
