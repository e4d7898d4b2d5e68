package executors

import "errors"

// ErrLost says that the place does not know the job: it was never begun there, or what ran it is gone.
var ErrLost = errors.New("the executor does not know this run")
