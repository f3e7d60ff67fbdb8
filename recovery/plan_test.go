package recovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"resurge/discovery"
	"resurge/plans"
	"resurge/streams"
)

var planned = time.Date(2026, 12, 1, 10, 40, 0, 0, time.UTC)

// part is one partition of a test topic: start, end and committed (-1: none).
func part(n int32, start, end, committed int64) discovery.PartitionState {
	p := discovery.PartitionState{Partition: n, Leader: 1, Start: &start, End: &end, Stable: &end}
	if committed >= 0 {
		p.Committed = &streams.Commit{Offset: committed, LeaderEpoch: -1, Metadata: fmt.Sprintf("meta-%d", committed)}
		lag := end - committed
		p.Lag = &lag
	}
	return p
}

// stopped is an application that is not running: inputs orders and customers,
// two changelogs, a repartition topic.
func stopped() discovery.Inventory {
	topic := func(id byte, name string, role streams.Role, owned bool, parts ...discovery.PartitionState) discovery.Topic {
		return discovery.Topic{Name: name, ID: streams.TopicID{id}, Role: role, Owned: owned, Evidence: []string{"test"}, Partitions: parts, ReplicationFactor: 1}
	}
	return discovery.Inventory{
		Application: "app", Cluster: streams.Cluster{ID: "cluster"}, TakenAt: planned,
		Group: streams.Group{ID: "app", Exists: true, Protocol: streams.ProtocolClassic, ProtocolType: "consumer", State: "Empty"},
		Topics: []discovery.Topic{
			topic(1, "customers", streams.RoleInput, false, part(0, 0, 5, 5)),
			topic(2, "orders", streams.RoleInput, false, part(0, 0, 100, 100), part(1, 10, 60, 40), part(2, 0, 0, -1)),
			topic(3, "app-a-changelog", streams.RoleChangelog, true, part(0, 0, 7, -1)),
			topic(4, "app-b-changelog", streams.RoleChangelog, true, part(0, 0, 7, -1)),
			topic(5, "app-c-repartition", streams.RoleRepartition, true, part(0, 3, 9, 9)),
		},
	}
}

func rebuild(positions ...Position) Request {
	return Request{Application: "app", Strategy: plans.Rebuild, Positions: positions}
}

// moved reads the planned offsets as "topic-partition before after metadata".
func moved(p plans.Plan) map[string]string {
	out := map[string]string{}
	for _, s := range p.Steps {
		for _, c := range s.Offsets {
			before := "none"
			if c.Before != nil {
				before = fmt.Sprint(*c.Before)
			}
			out[c.TopicPartition().String()] = strings.TrimSpace(fmt.Sprintf("%s %d %s", before, *c.After, c.Metadata))
		}
	}
	return out
}

// B30: every mode gives the offset that it says, for every partition, idle ones
// included.
func TestB30_PositionModes(t *testing.T) {
	at := planned.Add(-time.Hour)
	one := int32(1)
	for name, c := range map[string]struct {
		positions []Position
		want      map[string]string
	}{
		"default is earliest": {nil, map[string]string{"customers-0": "5 0", "orders-0": "100 0", "orders-1": "40 10", "orders-2": "none 0"}},
		"earliest":            {[]Position{{Mode: ToEarliest}}, map[string]string{"customers-0": "5 0", "orders-0": "100 0", "orders-1": "40 10", "orders-2": "none 0"}},
		"latest":              {[]Position{{Mode: ToLatest}}, map[string]string{"customers-0": "5 5", "orders-0": "100 100", "orders-1": "40 60", "orders-2": "none 0"}},
		"offset, clamped":     {[]Position{{Mode: ToOffset, Offset: 7}}, map[string]string{"customers-0": "5 5", "orders-0": "100 7", "orders-1": "40 10", "orders-2": "none 0"}},
		"shift back":          {[]Position{{Mode: ShiftBy, Offset: -35}}, map[string]string{"customers-0": "5 0", "orders-0": "100 65", "orders-1": "40 10", "orders-2": "none 0"}},
		"shift on":            {[]Position{{Mode: ShiftBy, Offset: 15}}, map[string]string{"customers-0": "5 5", "orders-0": "100 100", "orders-1": "40 55", "orders-2": "none 0"}},
		"time":                {[]Position{{Mode: ToDatetime, At: at}}, map[string]string{"customers-0": "5 5", "orders-0": "100 33", "orders-1": "40 44", "orders-2": "none 0"}},
		"the most exact wins": {[]Position{{Mode: ToLatest}, {Topic: "orders", Mode: ToEarliest}, {Topic: "orders", Partition: &one, Mode: ToOffset, Offset: 20}}, map[string]string{"customers-0": "5 5", "orders-0": "100 0", "orders-1": "40 20", "orders-2": "none 0"}},
	} {
		inv := stopped()
		inv.Times = []discovery.TimeOffset{
			{At: at, Topic: "customers", Partition: 0, Offset: 5},
			{At: at, Topic: "orders", Partition: 0, Offset: 33, Found: true},
			{At: at, Topic: "orders", Partition: 1, Offset: 44, Found: true},
			{At: at, Topic: "orders", Partition: 2, Offset: 0},
		}
		p, err := MakePlan(inv, rebuild(c.positions...), planned, "test")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, moved(p)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestRebuildPlanInOrder(t *testing.T) {
	p, err := MakePlan(stopped(), rebuild(), planned, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	kinds := make([]plans.Kind, 0, len(p.Steps))
	for _, s := range p.Steps {
		kinds = append(kinds, s.Kind)
	}
	want := []plans.Kind{
		plans.SaveState, plans.OperatorTask, plans.AwaitEmpty, plans.AwaitTransactions, plans.SaveState, plans.CommitOffsets,
		plans.DeleteTopic, plans.DeleteTopic, plans.DeleteTopic, plans.OperatorTask, plans.OperatorTask, plans.AwaitCaughtUp, plans.ProveState,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	if n := len(p.Destructive()); n != 3 {
		t.Errorf("%d destructive steps", n)
	}
	again, err := MakePlan(stopped(), rebuild(), planned, "test")
	if err != nil || again.ID != p.ID {
		t.Errorf("the same facts make another plan: %v", err)
	}
}

// B24: one name that does not resolve stops everything, with the near name.
func TestB24_TypoStopsTheWholePlan(t *testing.T) {
	inv := stopped()
	inv.Hints.Inputs = []string{"ordres"}
	_, err := MakePlan(inv, rebuild(), planned, "test")
	p := ProblemOf(err)
	if p.Code != OutcomeUsage || !strings.Contains(p.Message, "ordres") || !strings.Contains(p.Hint, "orders") {
		t.Errorf("got %+v", p)
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	nine := int32(9)
	notAllowed := &streams.Fault{Kind: streams.FaultNotAllowed, What: "group app", Message: "no"}
	for name, c := range map[string]struct {
		change func(*discovery.Inventory, *Request)
		want   Outcome
		says   string
	}{
		"group unknown":       {func(i *discovery.Inventory, _ *Request) { i.Group.Fault = notAllowed }, OutcomeUnauthorised, "not known"},
		"consumer group":      {func(i *discovery.Inventory, _ *Request) { i.Group.Protocol = streams.ProtocolConsumer }, OutcomeBlocked, "consumer"},
		"connect group":       {func(i *discovery.Inventory, _ *Request) { i.Group.ProtocolType = "connect" }, OutcomeBlocked, "Connect"},
		"input not allowed":   {func(i *discovery.Inventory, _ *Request) { i.Topics[0].Fault = notAllowed }, OutcomeUnauthorised, "customers"},
		"input without ends":  {func(i *discovery.Inventory, _ *Request) { i.Topics[1].Partitions[0].End = nil }, OutcomeBlocked, "orders-0"},
		"input without parts": {func(i *discovery.Inventory, _ *Request) { i.Topics[1].Partitions = nil }, OutcomeBlocked, "orders"},
		"no inputs":           {func(i *discovery.Inventory, _ *Request) { i.Topics = i.Topics[2:] }, OutcomeUsage, "no input"},
		"doubtful topic":      {func(i *discovery.Inventory, _ *Request) { i.Topics[2].Owned, i.Topics[2].Ambiguous = false, true }, OutcomeBlocked, "app-a-changelog"},
		"select what others read": {func(i *discovery.Inventory, _ *Request) {
			i.Hints.Internal = []string{"app-a-changelog"}
			i.Topics[2].ReadBy = []string{"billing"}
		}, OutcomeBlocked, "billing"},
		"select an input":    {func(i *discovery.Inventory, _ *Request) { i.Hints.Internal = []string{"orders"} }, OutcomeBlocked, "orders"},
		"select a typo":      {func(i *discovery.Inventory, _ *Request) { i.Hints.Internal = []string{"app-a-changelok"} }, OutcomeUsage, "app-a-changelok"},
		"position elsewhere": {func(_ *discovery.Inventory, r *Request) { r.Positions = []Position{{Topic: "other", Mode: ToLatest}} }, OutcomeUsage, "other"},
		"partition beyond": {func(_ *discovery.Inventory, r *Request) {
			r.Positions = []Position{{Topic: "orders", Partition: &nine, Mode: ToLatest}}
		}, OutcomeUsage, "partition 9"},
		"another strategy": {func(_ *discovery.Inventory, r *Request) { r.Strategy = plans.PITRRebuild }, OutcomeUsage, "pitr"},
	} {
		inv, req := stopped(), rebuild()
		c.change(&inv, &req)
		_, err := MakePlan(inv, req, planned, "test")
		if err == nil {
			t.Errorf("%s: a plan was made", name)
			continue
		}
		if p := ProblemOf(err); p.Code != c.want || !strings.Contains(p.Message, c.says) {
			t.Errorf("%s: got %s: %s", name, p.Code, p.Message)
		}
	}
}

func TestDoubtfulTopicCanBeNamed(t *testing.T) {
	inv := stopped()
	inv.Topics[2].Owned, inv.Topics[2].Ambiguous, inv.Topics[2].Role = false, true, streams.RoleLookalike
	inv.Hints.Internal = []string{"app-a-changelog", "app-c-repartition"}
	p, err := MakePlan(inv, rebuild(), planned, "test")
	if err != nil {
		t.Fatal(err)
	}
	var deleted []string
	for _, s := range p.Steps {
		if s.Kind == plans.DeleteTopic {
			deleted = append(deleted, s.Topics[0].Name)
		}
	}
	if diff := cmp.Diff(inv.Hints.Internal, deleted); diff != "" {
		t.Error(diff)
	}
	if !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.Contains(w, "app-b-changelog is left as it is") }) {
		t.Errorf("no warning about the topic left: %q", p.Warnings)
	}
}

func TestPlanOfARunningApplicationSaysSo(t *testing.T) {
	inv := stopped()
	inv.Group.State = "Stable"
	inv.Group.Members = []streams.Member{{ID: "m", ClientID: "app-1-StreamThread-1-consumer", Host: "/10.0.0.7"}}
	p, err := MakePlan(inv, rebuild(), planned, "test")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.Warnings[0], "1 member now") {
		t.Errorf("warnings %q", p.Warnings)
	}
	for _, f := range p.Basis {
		if strings.HasPrefix(f.Name, "committed ") {
			t.Errorf("the plan rests on a running application's commits: %v", f)
		}
	}
	for _, s := range p.Steps {
		if s.Kind == plans.RemoveMembers {
			t.Error("members are removed without being asked for")
		}
	}
}

func TestStale(t *testing.T) {
	p, err := MakePlan(stopped(), rebuild(), planned, "test")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*discovery.Inventory)
		want   string // the first difference, "" for none
	}{
		"nothing":         {func(*discovery.Inventory) {}, ""},
		"input goes on":   {func(i *discovery.Inventory) { i.Topics[1].Partitions[0] = part(0, 0, 500, 100) }, ""},
		"another cluster": {func(i *discovery.Inventory) { i.Cluster.ID = "other" }, "cluster: was cluster, is other"},
		"topic recreated": {func(i *discovery.Inventory) { i.Topics[1].ID = streams.TopicID{9} }, "topic orders: was"},
		"partitions added": {func(i *discovery.Inventory) {
			i.Topics[0].Partitions = append(i.Topics[0].Partitions, part(1, 0, 0, -1))
		}, "topic customers: was"},
		"changelog gone":       {func(i *discovery.Inventory) { i.Topics = append(i.Topics[:2:2], i.Topics[3:]...) }, "internal topics: was"},
		"committed meanwhile":  {func(i *discovery.Inventory) { i.Topics[1].Partitions[1] = part(1, 10, 60, 41) }, "committed orders-1: was 40, is 41"},
		"log start has passed": {func(i *discovery.Inventory) { i.Topics[1].Partitions[1] = part(1, 11, 60, 40) }, "new offset of orders-1: was in the log, is below the log start 11"},
		"another group reads":  {func(i *discovery.Inventory) { i.Topics[2].ReadBy = []string{"billing"} }, "topic app-a-changelog: was"},
		"protocol changed":     {func(i *discovery.Inventory) { i.Group.Protocol = streams.ProtocolStreams }, "group protocol: was classic, is streams"},
	} {
		inv := stopped()
		c.change(&inv)
		diff := Stale(p, inv)
		switch {
		case c.want == "" && len(diff) > 0:
			t.Errorf("%s: stale: %v", name, diff)
		case c.want != "" && (len(diff) == 0 || !strings.HasPrefix(diff[0].String(), c.want)):
			t.Errorf("%s: got %v, want %q", name, diff, c.want)
		}
	}
}

func TestRecreateRepartition(t *testing.T) {
	inv, req := stopped(), rebuild()
	inv.Topics[4].Configs = map[string]streams.Config{"retention.ms": {Value: "-1", Dynamic: true}, "min.insync.replicas": {Value: "1"}}
	req.RecreateRepartition = true
	p, err := MakePlan(inv, req, planned, "test")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Steps, func(s plans.Step) bool { return s.Kind == plans.CreateTopic })
	if i < 0 || p.Steps[i+1].Kind != plans.CommitOffsets {
		t.Fatal("no create step with a commit after it")
	}
	topic := p.Steps[i].Topics[0]
	if diff := cmp.Diff(map[string]string{"retention.ms": "-1"}, topic.Configs); diff != "" || topic.Name != "app-c-repartition" {
		t.Errorf("%s %s", topic.Name, diff)
	}
	if got := moved(p)["app-c-repartition-0"]; got != "none 0" {
		t.Errorf("repartition offset %q", got)
	}
	if diff := Stale(p, inv); len(diff) > 0 {
		t.Errorf("stale at once: %v", diff)
	}
}

func TestParseOffsetsFile(t *testing.T) {
	got, err := ParseOffsetsFile("orders,0,12\n\"orders\", 1, 7\r\n\n")
	if err != nil || len(got) != 2 || got[1].Topic != "orders" || *got[1].Partition != 1 || got[1].Offset != 7 {
		t.Errorf("%v %v", got, err)
	}
	for file, says := range map[string]string{
		"": "no partition", "a,b": "line 1", "orders,x,1": "line 1", "orders,0,1\norders,0,2": "already given in line 1", "orders,0,-5": "line 1", "orders,0,1,2": "line 1",
	} {
		if _, err := ParseOffsetsFile(file); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v", file, err)
		}
	}
}

// P5 of the reset tool: a file that misses a partition is an error, not a crash.
func TestFileMustNameEveryPartition(t *testing.T) {
	positions, err := ParseOffsetsFile("orders,0,12\n")
	if err != nil {
		t.Fatal(err)
	}
	_, err = MakePlan(stopped(), rebuild(positions...), planned, "test")
	if p := ProblemOf(err); p.Code != OutcomeUsage {
		t.Errorf("got %+v", p)
	}
}

func TestEveryKindHasAHandler(t *testing.T) {
	h := handlers()
	for _, k := range plans.Kinds() {
		if h[k] == nil {
			t.Errorf("no handler for %s", k)
		}
	}
	if len(h) != len(plans.Kinds()) {
		t.Errorf("%d handlers for %d kinds", len(h), len(plans.Kinds()))
	}
}

func TestProblemOfKeepsTheCause(t *testing.T) {
	err := fmt.Errorf("step 3: %w", &Error{Outcome: OutcomeBlocked, Message: "m", Hint: "h", Err: errors.New("c")})
	if p := ProblemOf(err); p.Code != OutcomeBlocked || p.Hint != "h" || p.Message != "step 3: m: c" {
		t.Errorf("%+v", p)
	}
}
