package ui

import (
	"testing"
	"time"

	"resurge/discovery"
	"resurge/recovery"
	"resurge/streams"
)

// opener drives to a screen.
type opener = func(*testing.T, int, int) *driver

// told fills in what the diagnosis says beside its findings.
func told(f *fake, _ *Session) {
	f.as.Clocks, f.as.Keeping = sampleClocks(), sampleKeeping()
}

// running is the sample's application with its members, and what is told of it.
func running(f *fake, s *Session) {
	told(f, s)
	f.inv = liveInventory()
	f.as.Findings = []discovery.Finding{{Level: discovery.LevelOK, Name: "group stable", Detail: "3 members"}}
}

// darkened is an application that this principal may hardly see.
func darkened(f *fake, s *Session) {
	told(f, s)
	no := func(what string) *streams.Fault {
		return fault(streams.FaultNotAllowed, what, "the principal may not see it", "DESCRIBE is needed")
	}
	f.inv.Group = streams.Group{ID: "order-processor", Exists: true, Fault: no("group order-processor")}
	f.inv.CommitsFault, f.inv.Activity = no("committed offsets of group order-processor"), nil
	f.inv.Gaps = []*streams.Fault{f.inv.Group.Fault, f.inv.CommitsFault}
	for i := range f.inv.Topics {
		for j := range f.inv.Topics[i].Partitions {
			p := &f.inv.Topics[i].Partitions[j]
			p.Committed, p.Lag = nil, nil
		}
	}
	f.as.Clocks, f.as.Keeping = nil, nil
	f.as.Findings = []discovery.Finding{{Level: discovery.LevelUnknown, Name: "group unknown", Detail: "group order-processor: the principal may not see it", Advice: "DESCRIBE is needed"}}
}

// followed drives a followed application through looks.
func followed(change func(*fake, *Session), looks func(n int) discovery.Inventory, n int, keys ...string) opener {
	return func(t *testing.T, w, h int) *driver {
		t.Helper()
		clock := now
		d := drive(t, w, h, change, func(f *fake, s *Session) {
			s.Now = func() time.Time { return clock.In(cet) }
			f.look = looks
		}).settle()
		d.press("enter")
		d.settle().press("f")
		d.settle()
		for range n {
			clock = clock.Add(5 * time.Second)
			d.send(tickMsg{})
			d.settle()
		}
		clock = clock.Add(2 * time.Second)
		d.send(tickMsg{})
		for _, k := range keys {
			d.press(k)
			d.settle()
		}
		return d
	}
}

// catchingUp is the sample's application reading 1,000 records per second and
// partition of orders, in looks 5 s apart.
func catchingUp(n int) discovery.Inventory {
	inv := liveInventory()
	inv.TakenAt = now.Add(time.Duration(5*n-4) * time.Second)
	inv.Activity.LastCommit = inv.TakenAt.Add(-time.Second)
	var seen []discovery.Topic
	for _, t := range inv.Topics {
		if t.Role != streams.RoleInput && t.Role != streams.RoleRepartition {
			continue
		}
		if t.Name == "orders" {
			for i := range t.Partitions {
				p := &t.Partitions[i]
				at, end := p.Committed.Offset+int64(5000*n), *p.End+int64(1000*n)
				p.Committed, p.End, p.Stable, p.Lag, p.CommittedAt = &streams.Commit{Offset: at}, &end, &end, new(end-at), inv.TakenAt.Add(-time.Second)
			}
		}
		seen = append(seen, t)
	}
	inv.Topics = seen
	if n > 2 {
		inv.Group.Members = inv.Group.Members[:2]
	}
	return inv
}

// discoveryScreens adds the screens that look at a cluster.
func discoveryScreens(out map[string]opener, open func(...string) opener, with func(func(*fake, *Session), ...string) opener) {
	out["01-apps-orphan"] = with(func(f *fake, _ *Session) {
		f.survey.Rows = append(f.survey.Rows, discovery.SurveyRow{
			Application: "returns-v1", Protocol: streams.ProtocolUnknown, Orphan: true, Members: new(0), Stores: new(2), Level: discovery.LevelLook, Worst: "orphan",
			Evidence: []string{"2 internal topics named so and no group of that name exists, or none that may be seen"},
		})
		f.survey.Gaps = []*streams.Fault{fault(streams.FaultUnreachable, "broker 3", "does not answer", "")}
	}, "s", "G", "k", "k")
	out["01-apps-names"] = func(t *testing.T, w, h int) *driver {
		t.Helper()
		d := drive(t, w, h)
		d.send(answer[discovery.Survey]{number: d.m.d.stack[0].(*appsScreen).names.number, value: glanced(sampleSurvey())})
		return d
	}
	out["01-apps-names-only"] = func(t *testing.T, w, h int) *driver {
		t.Helper()
		d := out["01-apps-names"](t, w, h)
		d.f.err = fault(streams.FaultUnreachable, "kafka-1:9092", "connection refused", "check the address")
		return d.settle()
	}
	out["02-application-dark"] = with(darkened, "enter")
	out["02-application-dark-offsets"] = with(darkened, "enter", "4")
	out["02-application-dark-tasks"] = with(darkened, "enter", "3")
	out["02-application-told"] = with(told, "enter")
	out["02-application-alike"] = with(told, "enter", "2", "l")
	out["02-application-tasks"] = with(running, "enter", "3", "s")
	out["02-application-tasks-none"] = open("enter", "3")
	out["02-application-offsets-lag"] = with(running, "enter", "4", "s")
	out["02-application-clocks"] = with(told, "enter", "6")
	out["02-application-keep"] = with(told, "enter", "7", "j")
	out["02-member"] = with(running, "enter", "5", "enter")
	out["02-task"] = with(running, "enter", "3", "j", "enter")
	out["02-partition"] = with(running, "enter", "4", "enter")
	out["02-kept"] = with(told, "enter", "7", "j", "enter")
	out["10-groups"] = open("g")
	out["10-groups-lag"] = open("g", "s")
	out["10-groups-loading"] = func(t *testing.T, w, h int) *driver {
		t.Helper()
		d := drive(t, w, h).settle()
		d.press("g")
		return d
	}
	out["10-groups-empty"] = with(func(f *fake, _ *Session) { f.groups.Rows = nil }, "g")
	plainGroup := func(f *fake, _ *Session) { f.inv = sampleGroup() }
	out["11-group"] = with(plainGroup, "g", "enter")
	out["11-group-topics"] = with(plainGroup, "g", "enter", "2")
	out["11-group-offsets"] = with(plainGroup, "g", "enter", "4", "s", "G")
	out["11-group-members"] = with(plainGroup, "g", "enter", "5")
	out["12-follow"] = followed(running, catchingUp, 2)
	out["12-follow-offsets"] = followed(running, catchingUp, 2, "4", "s")
	out["12-follow-topics"] = followed(running, catchingUp, 2, "2")
	out["12-follow-failed"] = func(t *testing.T, w, h int) *driver {
		t.Helper()
		d := followed(running, catchingUp, 1, "4")(t, w, h)
		d.f.err = fault(streams.FaultUnreachable, "kafka-2:9092", "connection refused", "check that the broker runs")
		app := d.m.d.top().(*applicationScreen)
		app.ask()
		return d.settle()
	}
	out["13-rights"] = with(told, "enter", "p")
	out["13-rights-held"] = with(func(f *fake, _ *Session) {
		for i := range f.rights.Needs {
			f.rights.Needs[i].Held, f.rights.Needs[i].Command = recovery.HeldYes, ""
		}
	}, "enter", "p", "4")
	out["13-rights-none"] = with(func(f *fake, _ *Session) { f.rights.Needs = nil }, "enter", "p")
}
