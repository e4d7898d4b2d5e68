package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/agent-coordinator/agent-coordinator/client"
	"github.com/agent-coordinator/agent-coordinator/internal/fault"
)

// The exit codes of coordctl.
const (
	exitOK          = 0
	exitRefused     = 1 // the answer is no: success:false, nothing found, a conflict, a lost lease
	exitUsage       = 2 // the command line or a value in it is wrong; nothing was changed
	exitUnavailable = 3 // cannot tell: the API or its database did not answer
	exitOther       = 4 // any other failure: no or a wrong key, a defect
)

const exitText = `Exit codes: 0 done; 1 the answer is no (success:false, not found, conflict, lease lost); 2 wrong usage;
3 cannot tell (API or database not reachable; retry); 4 any other failure.`

// usageError is a wrong command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// quietExit ends the program with a code when all was said already.
type quietExit int

func (q quietExit) Error() string { return fmt.Sprintf("exit code %d", int(q)) }

// exitCode maps an error to the code of the process.
func exitCode(err error) int {
	var quiet quietExit
	var usage usageError
	var f *fault.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &quiet):
		return int(quiet)
	case errors.As(err, &usage):
		return exitUsage
	case !errors.As(err, &f):
		return exitOther
	}
	switch f.Code {
	case client.CodeInvalid, client.CodeTooLarge:
		return exitUsage
	case client.CodeUnavailable, client.CodeExhausted:
		return exitUnavailable
	case client.CodeConflict, client.CodeLeaseLost, client.CodeNotFound:
		return exitRefused
	}
	return exitOther
}

// report writes a failure: what, why, next; as JSON when the reply would have been JSON.
func report(w io.Writer, err error, asJSON bool) {
	var quiet quietExit
	if err == nil || errors.As(err, &quiet) {
		return
	}
	f := asFault(err)
	if asJSON {
		raw, _ := json.Marshal(f) // strings and numbers only
		fmt.Fprintf(w, "%s\n", raw)
		return
	}
	fmt.Fprintf(w, "error: %s\n", f.What)
	if f.Why != "" {
		fmt.Fprintf(w, "  why:  %s\n", f.Why)
	}
	if f.Next != "" {
		fmt.Fprintf(w, "  next: %s\n", f.Next)
	}
	if f.RequestID != "" && exitCode(err) == exitOther {
		fmt.Fprintf(w, "  id:   %s\n", f.RequestID)
	}
}

// asFault keeps the text of errors that are not faults: they come from this machine, so they hide nothing.
func asFault(err error) *fault.Error {
	var f *fault.Error
	var usage usageError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &usage):
		return fault.New(client.CodeInvalid, err.Error(), "", "see --help")
	}
	return fault.New(client.CodeInternal, err.Error(), "", "coordctl doctor looks for the cause")
}
