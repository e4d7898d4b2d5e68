//go:build !conformance

package main

import "flag"

// conformanceFlags adds nothing: the fixtures are in builds with the tag conformance only.
func conformanceFlags(*flag.FlagSet, *options) {}
