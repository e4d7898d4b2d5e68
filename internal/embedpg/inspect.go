package embedpg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// Info describes a server for people: status and doctor.
type Info struct {
	Dir       string        `json:"dir"`        // control directory
	DataDir   string        `json:"data_dir"`   //
	Exists    bool          `json:"exists"`     // a cluster has been created
	Major     int           `json:"major"`      // of the cluster; 0 when there is none
	Running   bool          `json:"running"`    //
	PID       int           `json:"pid"`        // of the postmaster; 0 unless running
	Port      int           `json:"port"`       // on 127.0.0.1, of the last start
	SocketDir string        `json:"socket_dir"` // empty where there are no sockets
	Version   string        `json:"version"`    // of the server programs at the last start
	Binaries  string        `json:"binaries"`   // their folder
	Account   string        `json:"account"`    // who runs it
	StartedAt time.Time     `json:"started_at"` //
	Log       string        `json:"log"`        // path of the server's log
	InUse     bool          `json:"in_use"`     // some process uses it now
	Watched   bool          `json:"watched"`    // it will be stopped after Grace without users
	Grace     time.Duration `json:"grace"`      // below 0: it stays
}

// Inspect looks at the server of dir (default DefaultDir()) without changing or starting anything.
func Inspect(dir string) (Info, error) {
	l, password, err := existing(dir)
	if err != nil {
		return Info{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	e := readEndpoint(l)
	info := infoOf(l, e, password != "" && probe(ctx, e, password, l.data()) == nil)
	if info.Major, err = clusterMajor(l.data()); err != nil {
		return info, err
	}
	info.Exists = info.Major != 0
	if info.Exists {
		if info.InUse, err = lockedByOther(l.usersLock(), true); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return info, err
		}
		if info.Watched, err = lockedByOther(l.watchLock(), false); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return info, err
		}
	}
	return info, nil
}

// Stop stops the server of dir (default DefaultDir()) now, whoever uses it; their next Start brings it up
// again. It returns nil when there was none running.
func Stop(ctx context.Context, dir string) error {
	l, password, err := existing(dir)
	if err != nil || password == "" {
		return err
	}
	start, err := openLock(l.startLock())
	if err != nil {
		return err
	}
	defer start.release()
	if err := start.acquire(ctx, true); err != nil {
		return err
	}
	return stopServer(ctx, l, password)
}

// existing reads the layout and password of a directory that may not exist; password is "" then.
func existing(dir string) (layout, string, error) {
	o, err := Options{Dir: dir}.withDefaults()
	if err != nil {
		return layout{}, "", err
	}
	clearLibpqEnv()
	l, err := readLayout(o.Dir)
	if err != nil {
		return l, "", err
	}
	raw, err := os.ReadFile(l.secretFile())
	if errors.Is(err, fs.ErrNotExist) {
		return l, "", nil
	}
	if err != nil {
		return l, "", fmt.Errorf("read the password: %w", err)
	}
	return l, strings.TrimSpace(string(raw)), nil
}

func infoOf(l layout, e endpoint, running bool) Info {
	i := Info{
		Dir: l.ctl, DataDir: l.data(), Exists: true, Running: running, Port: e.Port, SocketDir: e.SocketDir, Version: e.Version,
		Binaries: e.BinDir, Account: e.Account, StartedAt: e.StartedAt, Log: l.serverLog(), Grace: readGrace(l),
	}
	if running {
		i.PID = e.PID
	}
	return i
}

// stopServer stops a running server; the caller holds start.lock. Fast mode first: it rolls open
// transactions back and writes a checkpoint. What does not end within the time is ended at once, which
// the next start recovers from.
func stopServer(ctx context.Context, l layout, password string) error {
	e, running := findRunning(ctx, l, password)
	if !running {
		return nil
	}
	u, err := chooseUser(l.data())
	if err != nil {
		return err
	}
	b := Binaries{Dir: e.BinDir}
	if e.BinDir == "" { // the starter died before it could note them
		major, err := clusterMajor(l.data())
		if err != nil {
			return err
		}
		if b, err = findBinaries(ctx, u, major, func(string) {}); err != nil {
			return err
		}
	}
	for _, mode := range []string{"fast", "immediate"} {
		if _, err = run(u.command(ctx, b.program("pg_ctl"), "-D", l.data(), "-m", mode, "-w", "-t", "30", "-s", "stop")); err == nil {
			return nil
		}
	}
	return fmt.Errorf("stop Postgres: %w", err)
}
