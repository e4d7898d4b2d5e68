// Package cli is the tree of coordctl: one command for every operation of the catalogue, made from its declaration,
// and the commands that run the installation (up, down, status, doctor, install, …).
//
// Promise: a new operation appears here without an edit; --json prints exactly what the server answered; the exit
// code tells a script what happened without reading the text (see exit.go). Nothing here knows SQL: operations go
// over HTTP to the API that flags, the environment or up.json name.
package cli
