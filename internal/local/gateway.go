package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/agent-coordinator/agent-coordinator/internal/loop"
)

// GatewayOptions say how the verification gateway runs beside the API.
type GatewayOptions struct {
	Addr  string // where it listens
	Fixed bool   // the address was asked for; else a free port is taken when somebody else has this one
	Serve ServeFunc
}

// gatewayPause is how long a gateway that failed is left alone before it is started again.
const gatewayPause = 5 * time.Second

// keepGateway runs the gateway until ctx ends. settled is called once: when it listens, or will not. A gateway that
// cannot run leaves the rest as it is: the API needs it for nothing.
func (r *running) keepGateway(ctx context.Context, o UpOptions, db *Database, settled func()) {
	addr, told := o.Gateway.Addr, false
	settle := func() {
		if !told {
			told = true
			settled()
		}
	}
	defer settle()
	var taken *PortTakenError
	if err := checkFree(addr); errors.As(err, &taken) && !o.Gateway.Fixed {
		if host, _, err := net.SplitHostPort(addr); err == nil {
			o.Progress(fmt.Sprintf("the gateway takes a free port: %s", taken))
			addr = net.JoinHostPort(host, "0")
		}
	}
	last := ""
	for {
		err := o.Gateway.Serve(ctx, db, addr, func(at string) {
			url := "http://" + reachable(at)
			if err := r.write(func(u *Up) { u.GatewayURL = &url }); err != nil {
				o.Progress("up.json could not be written: " + err.Error())
			}
			if last != "" {
				o.Progress("the gateway runs again")
			}
			last = ""
			settle()
		})
		if ctx.Err() != nil {
			return
		}
		_ = r.write(func(u *Up) { u.GatewayURL = nil }) // what could not be written is written with the next change
		if text := fmt.Sprintf("the gateway does not run: %v", err); text != last {
			o.Progress(text)
			last = text
		}
		settle()
		if loop.Pause(ctx, gatewayPause) != nil {
			return
		}
	}
}
