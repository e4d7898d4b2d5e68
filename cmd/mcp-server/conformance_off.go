//go:build !conformance

package main

import (
	"flag"

	"github.com/mark3labs/mcp-go/server"
)

// In builds without the tag conformance there are no fixtures, and no flags for them.

func conformanceFlags(*flag.FlagSet, *options) {}

func conformanceOptions() []server.ServerOption { return nil }

func addFixtures(*server.MCPServer) {}
