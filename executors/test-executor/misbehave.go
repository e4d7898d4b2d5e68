package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// hangArgument makes the program a child that ignores SIGTERM.
const hangArgument = "hang"

// misbehave does what a prompt like "test:fail 3 text" asks for. A code other than 0 ends the program with it.
func misbehave(prompt string, out, errOut io.Writer) (int, error) {
	order, ok := strings.CutPrefix(prompt, "test:")
	if !ok {
		return 0, nil
	}
	verb, rest, _ := strings.Cut(order, " ")
	switch verb {
	case "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			return 1, err
		}
		<-time.After(d)
	case "fail":
		number, text, _ := strings.Cut(rest, " ")
		code, err := strconv.Atoi(number)
		if err != nil || code == 0 {
			return 1, fmt.Errorf("test:fail needs an exit code, not %q", number)
		}
		fmt.Fprintln(errOut, text)
		return code, nil
	case "flood":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return 1, err
		}
		flood(out, n)
		flood(errOut, n)
	case "hang":
		hang(out)
	case "child":
		child := exec.Command(os.Args[0], hangArgument)
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			return 1, err
		}
		hang(out)
	default:
		return 1, fmt.Errorf("test:%s is not known", verb)
	}
	return 0, nil
}

// flood writes n bytes in lines.
func flood(w io.Writer, n int) {
	line := []byte(strings.Repeat("x", 63) + "\n")
	for ; n > 0; n -= len(line) {
		if _, err := w.Write(line[:min(n, len(line))]); err != nil {
			return
		}
	}
}

// hang never returns; only SIGKILL ends the program.
func hang(out io.Writer) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	fmt.Fprintf(out, "hanging as %d\n", os.Getpid())
	<-time.After(time.Hour) // an empty select would be called a deadlock
	os.Exit(1)
}
