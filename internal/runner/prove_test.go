//go:build prove

package runner

func init() { killTrials = 250 }
