package ntm

import (
	"fmt"
	"strings"
	"time"
)

// The files of a run's folder. result.json is the only truth about its end, the folder lock about its beginning.
const (
	fileSource    = "source.tar.gz"
	fileWrapper   = "run.sh"
	fileCommand   = "command.sh"
	fileResult    = "result.json"
	fileLog       = "output.log"
	filePID       = "pid"
	fileChild     = "child"
	fileSubmitted = "submitted.json"
	fileCancelled = "cancelled"
	fileGiven     = "given.json" // the verdict over a run that will write none
	dirLock       = "lock"
	dirTree       = "src"
)

// maxLog is how much of the end of the command's output is kept on disk, in bytes.
const maxLog = 256 << 10

// wrapper is what NTM runs: it begins once however often it is started, clears the environment of whatever ntm serve
// was started with, holds the time itself, and puts its result in place in one step.
func wrapper(dir, run string, timeout time.Duration) string {
	return strings.NewReplacer("DIR", quote(dir), "RUN", run, "SECONDS", fmt.Sprint(int(timeout.Seconds())), "MAXLOG", fmt.Sprint(maxLog)).Replace(`#!/bin/sh
# Made by the verification gateway for one run; see result.json beside it.
umask 077
cd DIR || exit 1
mkdir lock 2>/dev/null || exit 0
echo $$ >pid
began=$(date +%s)
finish() { # setup-failed exit
  printf '{"run":"RUN","setup_failed":%s,"exit":%d,"started":%d,"ended":%d}\n' "$1" "$2" "$began" "$(date +%s)" >result.tmp &&
    mv result.tmp result.json
}
if ! { mkdir src && tar -xzf source.tar.gz -C src; } >output.log 2>&1; then
  finish true 1
  exit 1
fi
rm -f source.tar.gz
: >code
limit=""
command -v timeout >/dev/null && limit="timeout -k 5 SECONDS"
{
  (cd src && exec env -i PATH="$PATH" HOME="$HOME" USER="$USER" LANG=C.UTF-8 CI=true COORD_RUN=RUN $limit /bin/sh DIR/command.sh </dev/null 2>&1) &
  child=$!
  echo $child >child
  wait $child
  echo $? >code
  [ -z "$limit" ] || kill -s KILL -- -$child 2>/dev/null # what it left behind would hold the output open
} | tail -c MAXLOG >output.log
code=$(cat code)
finish false "${code:-1}"
exit "${code:-1}"
`)
}

// quote makes one word for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
