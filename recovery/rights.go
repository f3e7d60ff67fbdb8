package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"resurge/discovery"
	"resurge/streams"
)

// Resources of ACLs (Kafka's ResourceType).
const (
	resourceTopic       = "TOPIC"
	resourceGroup       = "GROUP"
	resourceCluster     = "CLUSTER"
	resourceTransaction = "TRANSACTIONAL_ID"
)

// CheckRights lists the rights that a purpose takes and asks the broker which of
// them this principal has. Nothing is tried out: the broker tells (KIP-430). What
// each request takes is in Kafka's documentation, "Operations and resources on
// protocols". A right that the broker does not tell is unknown.
func CheckRights(ctx context.Context, r discovery.RightsReader, inv discovery.Inventory, purpose Purpose) (Preflight, error) {
	out := Preflight{Application: inv.Application, Purpose: purpose, Cluster: inv.Cluster, Gaps: inv.Gaps, Brokers: inv.Broker}
	needs, ok := needsOf(inv, purpose)
	if !ok {
		return out, refuse(OutcomeUsage, "rebuild, restore, pitr or backup", "%q is nothing that rights are listed for", string(purpose))
	}
	held, err := askRights(ctx, r, inv.Application, needs)
	if err != nil {
		return out, err
	}
	for i := range needs {
		n := &needs[i]
		n.Held, n.Fault = held.of(*n)
		if n.Held != HeldYes {
			n.Command = aclCommand(inv.Cluster.Principal, *n)
		}
	}
	slices.SortStableFunc(needs, func(a, b Need) int { return needOrder(a) - needOrder(b) })
	out.Needs = needs
	return out, nil
}

// needOrder puts first what is missing.
func needOrder(n Need) int {
	order := map[Held]int{HeldNo: 0, HeldUnknown: 2, HeldYes: 4}[n.Held]
	if n.Optional {
		order++
	}
	return order
}

// ParsePurpose reads a purpose as operators write it.
func ParsePurpose(text string) (Purpose, error) {
	switch text {
	case "rebuild":
		return ForRebuild, nil
	case "restore", string(ForRestore):
		return ForRestore, nil
	case "pitr":
		return ForPITR, nil
	case "backup":
		return ForBackup, nil
	}
	return "", fmt.Errorf("%q is none of rebuild, restore, pitr and backup", text)
}

// needList collects needs; the same right is listed once.
type needList struct {
	needs []Need
	seen  map[[3]string]bool
}

func (l *needList) add(resource, name, why string, optional bool, ops ...streams.Operation) {
	for _, op := range ops {
		key := [3]string{resource, name, string(op)}
		if !l.seen[key] {
			l.seen[key] = true
			l.needs = append(l.needs, Need{Operation: op, Resource: resource, Name: name, Why: why, Optional: optional})
		}
	}
}

// clusterName is what Kafka calls the only resource of type CLUSTER.
const clusterName = "kafka-cluster"

// commitLog is where commit times, and the exact cut of a running application,
// are read.
const commitLog = "__consumer_offsets"

func needsOf(inv discovery.Inventory, purpose Purpose) ([]Need, bool) {
	l := &needList{seen: map[[3]string]bool{}}
	app := inv.Application
	l.add(resourceGroup, app, "read its members and committed offsets", false, streams.OpDescribe)
	l.add(resourceCluster, clusterName, "see every group: only then is it known that nobody else reads a topic", false, streams.OpDescribe)
	perTopic := map[Purpose]func(*needList, discovery.Topic){ForRebuild: rebuildNeeds, ForRestore: restoreNeeds, ForPITR: pitrNeeds, ForBackup: backupNeeds}[purpose]
	if perTopic == nil {
		return nil, false
	}
	for _, t := range inv.Topics {
		if t.Role != streams.RoleLookalike || t.Ambiguous {
			perTopic(l, t)
		}
	}
	if purpose != ForBackup {
		l.add(resourceGroup, app, "commit offsets", false, streams.OpRead)
		l.add(resourceGroup, app, "remove what is committed on deleted topics", false, streams.OpDelete)
	}
	l.add(resourceTransaction, app+"-", "name its open transactions; that there is one shows otherwise too", true, streams.OpDescribe)
	l.add(resourceTopic, commitLog, commitLogWhy(purpose), purpose != ForBackup, streams.OpRead)
	l.add(resourceCluster, clusterName, "read settings of the brokers", true, streams.OpDescribeConfigs)
	return l.needs, true
}

func commitLogWhy(p Purpose) string {
	if p == ForBackup {
		return "cut a running application exactly"
	}
	return "tell when the group last committed"
}

func isInternal(t discovery.Topic) bool {
	return t.Role == streams.RoleChangelog || t.Role == streams.RoleRepartition || t.Role == streams.RoleLookalike
}

func rebuildNeeds(l *needList, t discovery.Topic) {
	l.add(resourceTopic, t.Name, "read its partitions and ends", false, streams.OpDescribe)
	switch {
	case isInternal(t):
		l.add(resourceTopic, t.Name, "save its settings before it is deleted", false, streams.OpDescribeConfigs)
		l.add(resourceTopic, t.Name, "delete it", false, streams.OpDelete)
		l.add(resourceTopic, t.Name, "prove the state, or remove its offsets", false, streams.OpRead)
		if t.Role == streams.RoleRepartition {
			l.add(resourceTopic, t.Name, "make it again (--recreate-repartition)", true, streams.OpCreate)
		}
	case t.Role == streams.RoleInput:
		l.add(resourceTopic, t.Name, "commit offsets on it", false, streams.OpRead)
		l.add(resourceTopic, t.Name, "tell how long it keeps records", true, streams.OpDescribeConfigs)
	default:
		l.add(resourceTopic, t.Name, "tell how long it keeps records", true, streams.OpDescribeConfigs)
	}
}

func restoreNeeds(l *needList, t discovery.Topic) {
	rebuildNeeds(l, t)
	if isInternal(t) {
		l.add(resourceTopic, t.Name, "make it again", false, streams.OpCreate)
		l.add(resourceTopic, t.Name, "write its records back", false, streams.OpWrite)
		l.add(resourceTopic, t.Name, "hold retention and compaction up meanwhile", false, streams.OpAlterConfigs)
	}
}

func pitrNeeds(l *needList, t discovery.Topic) {
	rebuildNeeds(l, t)
	if t.Role == streams.RoleInput || t.Role == streams.RoleOutput || t.Role == streams.RoleGlobal {
		l.add(resourceTopic, t.Name, "save its settings before it is cut", false, streams.OpDescribeConfigs)
		l.add(resourceTopic, t.Name, "cut it at the chosen time: delete and make again", false, streams.OpDelete, streams.OpCreate)
		l.add(resourceTopic, t.Name, "write its records back", false, streams.OpWrite, streams.OpAlterConfigs)
	}
}

func backupNeeds(l *needList, t discovery.Topic) {
	if t.Role == streams.RoleOutput {
		l.add(resourceTopic, t.Name, "record its ends", true, streams.OpDescribe)
		return
	}
	l.add(resourceTopic, t.Name, "read its partitions and ends", false, streams.OpDescribe)
	l.add(resourceTopic, t.Name, "read its records", false, streams.OpRead)
	l.add(resourceTopic, t.Name, "keep its settings", false, streams.OpDescribeConfigs)
}

// heldRights is what the broker told.
type heldRights struct {
	topics  map[string]streams.Rights
	group   streams.Rights
	cluster streams.Rights
}

func askRights(ctx context.Context, r discovery.RightsReader, app string, needs []Need) (heldRights, error) {
	var names []string
	for _, n := range needs {
		if n.Resource == resourceTopic && !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
	}
	var h heldRights
	work, wctx := errgroup.WithContext(ctx)
	work.Go(func() (err error) { h.topics, err = r.TopicRights(wctx, names...); return err })
	work.Go(func() (err error) { h.group, err = r.GroupRights(wctx, app); return err })
	work.Go(func() (err error) { h.cluster, err = r.ClusterRights(wctx); return err })
	if err := work.Wait(); err != nil {
		return h, fmt.Errorf("ask for the rights on %s: %w", streams.Quote(app), err)
	}
	return h, nil
}

var errNotTold = errors.New("brokers do not tell rights on transactional IDs; without it they are missing in answers, and nothing says so")

func (h heldRights) of(n Need) (Held, *streams.Fault) {
	var rights streams.Rights
	switch n.Resource {
	case resourceTopic:
		told, ok := h.topics[n.Name]
		if !ok {
			return HeldUnknown, nil
		}
		rights = told
	case resourceGroup:
		rights = h.group
	case resourceCluster:
		rights = h.cluster
	default:
		return HeldUnknown, &streams.Fault{Kind: streams.FaultUnsupported, What: "rights", Message: errNotTold.Error()}
	}
	switch {
	case rights.Fault == nil && slices.Contains(rights.Allowed, n.Operation):
		return HeldYes, nil
	case rights.Fault == nil:
		return HeldNo, nil
	case rights.Fault.Kind == streams.FaultNotAllowed && impliesDescribe(n.Operation):
		return HeldNo, rights.Fault
	}
	return HeldUnknown, rights.Fault
}

// impliesDescribe reports whether whoever has the operation may describe as well
// (AclEntry.supportedOperations, StandardAuthorizerData): without DESCRIBE it is
// not held either.
func impliesDescribe(op streams.Operation) bool {
	switch op {
	case streams.OpDescribe, streams.OpRead, streams.OpWrite, streams.OpDelete, streams.OpAlter:
		return true
	case streams.OpCreate, streams.OpDescribeConfigs, streams.OpAlterConfigs, streams.OpClusterAction, streams.OpIdempotentWrite:
	}
	return false
}

// aclCommand adds the right with Kafka's own tool.
func aclCommand(principal string, n Need) string {
	if principal == "" {
		principal = "User:<principal>"
	}
	operation := map[streams.Operation]string{
		streams.OpRead: "Read", streams.OpWrite: "Write", streams.OpCreate: "Create", streams.OpDelete: "Delete", streams.OpAlter: "Alter",
		streams.OpDescribe: "Describe", streams.OpDescribeConfigs: "DescribeConfigs", streams.OpAlterConfigs: "AlterConfigs",
	}[n.Operation]
	where := map[string]string{resourceTopic: "--topic", resourceGroup: "--group", resourceTransaction: "--transactional-id"}[n.Resource] + " " + streams.ShellQuote(n.Name)
	switch n.Resource {
	case resourceCluster:
		where = "--cluster"
	case resourceTransaction:
		where += " --resource-pattern-type prefixed"
	}
	return strings.Join([]string{`kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --add --allow-principal`, streams.ShellQuote(principal), "--operation", operation, where}, " ")
}
