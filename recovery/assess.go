package recovery

import (
	"fmt"
	"strings"
	"time"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

// Assumed replay rates, in records per second, for an estimate without any
// measurement: one slow thread with session stores, and two quick ones
// (facts measured with Streams 4.4.0 on two cores).
const (
	slowReplay = 20_000
	fastReplay = 120_000
	// startUp is what a start costs before the first record: join and assign.
	startUp = 5 * time.Second
)

// Assess says what an inventory means. It reads nothing.
func Assess(inv discovery.Inventory) Assessment {
	a := Assessment{Diagnosis: discovery.Diagnose(inv)}
	a.Options = []Option{
		rebuildOption(inv),
		{Strategy: string(plans.ChangelogRestore), Reason: "no archive is configured: restoring changelogs needs a backup of them"},
		{Strategy: string(plans.PITRRebuild), Reason: "no archive is configured: a point in time needs a backup of the inputs"},
		standbyOption(inv),
	}
	return a
}

// rebuildOption weighs the rebuild from input.
func rebuildOption(inv discovery.Inventory) Option {
	o := Option{Strategy: string(plans.Rebuild), Available: true, Reason: "the inputs are replayed from the chosen position"}
	var records int64
	inputs := inv.ByRole(streams.RoleInput)
	for _, t := range inputs {
		n, ok := t.Records()
		if !ok {
			o.Notes = append(o.Notes, "the size of "+t.Name+" is not known")
		}
		records += n
	}
	if inv.Group.Fault != nil {
		o.Available, o.Reason = false, "the state of the group is not known: "+inv.Group.Fault.Error()
		return o
	}
	o.Estimate = &Estimate{
		Low: startUp + rate(records, fastReplay), High: startUp + rate(records, slowReplay), Records: records, Assumed: true,
		From: fmt.Sprintf("%d to %d records/s; nothing was measured on this cluster yet", slowReplay, fastReplay),
	}
	if len(inputs) == 0 {
		o.Notes = append(o.Notes, "no input is known: name them with --input-topics")
	}
	for _, t := range inv.ByRole(streams.RoleOutput) {
		o.Notes = append(o.Notes, "emitted again on "+t.Name+readers(t))
	}
	return o
}

func readers(t discovery.Topic) string {
	if len(t.ReadBy) == 0 {
		return ""
	}
	return "; readers: " + strings.Join(t.ReadBy, ", ")
}

func rate(records, perSecond int64) time.Duration {
	return time.Duration(records) * time.Second / time.Duration(perSecond)
}

func standbyOption(inv discovery.Inventory) Option {
	standbys := 0
	for _, m := range inv.Group.Members {
		standbys += len(m.Standby)
	}
	o := Option{Strategy: string(plans.StandbyPromotion), Reason: "no standby task is known"}
	if standbys > 0 {
		o.Reason = fmt.Sprintf("%d standby tasks: Kafka promotes them by itself when an instance leaves; measuring it is not available yet", standbys)
	}
	return o
}
