// Package dark says that terminals are dark, before Bubble Tea asks them: it asks in its init, so every command of a program
// that links it would write a question to the terminal and wait for the answer. Go initialises this package first, since of
// two that are ready the one with the smaller import path comes first (since Go 1.21). Our colours suit both.
package dark

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) } //nolint:gochecknoinits // that is what it is for
