package local

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// PortTakenError says that somebody else listens where the API should.
type PortTakenError struct {
	Addr  string
	Owner string // "nginx (pid 812)", empty when this system does not tell
}

func (e *PortTakenError) Error() string {
	who := "another program"
	if e.Owner != "" {
		who = e.Owner
	}
	return fmt.Sprintf("%s is taken by %s", e.Addr, who)
}

// checkFree fails with *PortTakenError when addr cannot be listened on because somebody does.
func checkFree(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err == nil {
		return ln.Close()
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen on %s (API_ADDR): %w", addr, err)
	}
	return &PortTakenError{Addr: addr, Owner: portOwner(addr)}
}

// portOwner names the process that listens on addr, as far as /proc tells; elsewhere it is empty.
func portOwner(addr string) string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return ""
	}
	inodes := listeningInodes(fmt.Sprintf(":%04X", n))
	if len(inodes) == 0 {
		return ""
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well-formed
	for _, link := range links {
		target, err := os.Readlink(link)
		if err != nil || !inodes[target] {
			continue
		}
		pid := strings.Split(link, "/")[2]
		name, err := os.ReadFile(filepath.Join("/proc", pid, "comm"))
		if err != nil {
			return "pid " + pid
		}
		return fmt.Sprintf("%s (pid %s)", strings.TrimSpace(string(name)), pid)
	}
	return ""
}

// listeningInodes reads the sockets that listen on a port out of the kernel's tables.
func listeningInodes(portHex string) map[string]bool {
	const listening = "0A"
	out := map[string]bool{}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		in := bufio.NewScanner(f)
		for in.Scan() {
			fields := strings.Fields(in.Text())
			if len(fields) > 9 && strings.HasSuffix(fields[1], portHex) && fields[3] == listening {
				out["socket:["+fields[9]+"]"] = true
			}
		}
		_ = f.Close() // it was read
	}
	return out
}
