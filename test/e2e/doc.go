// Package e2e drives the real binaries from outside: real processes, real hosts, kill -9, a stopped database. It needs
// the build tag e2e; the tests under hosts additionally need the folder named by E2E_HOSTS, into which
// `npm install` put test/e2e/hosts/package.json (make e2e does both).
package e2e
