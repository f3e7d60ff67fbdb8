//go:build integration

package integration

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

func plainAuth(user string) sasl.Mechanism {
	return plain.Auth{User: user, Pass: user + "-secret"}.AsMechanism()
}

// brokerProperties are those of a node that is quick rather than careful.
func brokerProperties(port, controller int, dir string, opts brokerOptions) []byte {
	listener := "PLAINTEXT"
	if opts.sasl {
		listener = "SASL_PLAINTEXT"
	}
	p := map[string]string{
		"process.roles":                  "broker,controller",
		"node.id":                        "1",
		"controller.quorum.voters":       "1@" + loopback(controller),
		"listeners":                      listener + "://" + loopback(port) + ",CONTROLLER://" + loopback(controller),
		"advertised.listeners":           listener + "://" + loopback(port),
		"controller.listener.names":      "CONTROLLER",
		"listener.security.protocol.map": listener + ":" + listener + ",CONTROLLER:PLAINTEXT",
		"inter.broker.listener.name":     listener,
		"log.dirs":                       dir,
		"auto.create.topics.enable":      "false",
		"num.partitions":                 "2",

		"offsets.topic.replication.factor":                 "1",
		"offsets.topic.num.partitions":                     "5",
		"transaction.state.log.replication.factor":         "1",
		"transaction.state.log.min.isr":                    "1",
		"transaction.state.log.num.partitions":             "5",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",

		"log.cleaner.backoff.ms":           "1000",
		"log.initial.task.delay.ms":        "1000",
		"group.initial.rebalance.delay.ms": "0",
		"group.min.session.timeout.ms":     "1000",
		// By default a streams member learns of its assignment from heartbeats 5 s apart.
		"group.streams.min.session.timeout.ms":     "6000",
		"group.streams.session.timeout.ms":         "6000",
		"group.streams.min.heartbeat.interval.ms":  "500",
		"group.streams.heartbeat.interval.ms":      "500",
		"group.streams.initial.rebalance.delay.ms": "0",
		"group.streams.min.assignment.interval.ms": "0",
		"group.streams.assignment.interval.ms":     "0",
	}
	if opts.sasl {
		maps.Copy(p, map[string]string{
			"sasl.enabled.mechanisms":              "PLAIN",
			"sasl.mechanism.inter.broker.protocol": "PLAIN",
			"listener.name.sasl_plaintext.plain.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required" +
				` username="admin" password="admin-secret" user_admin="admin-secret" user_ops="ops-secret";`,
			"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
			// The controller listener is PLAINTEXT, so the broker itself is ANONYMOUS there.
			"super.users": "User:admin;User:ANONYMOUS",
		})
	}
	maps.Copy(p, opts.props)
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(&b, "%s=%s\n", name, p[name])
	}
	return b.Bytes()
}

// prepared gives a formatted log directory to copy and a class-data archive to start from. Both are made once and kept:
// formatting costs a second of JVM start for every broker, the archive saves one for every JVM.
func (tc *toolchain) prepared() (template, archive string, err error) {
	unlock, err := lockDir(tc.cache)
	if err != nil {
		return "", "", err
	}
	defer unlock()
	dir := filepath.Join(tc.cache, "prepared-"+tc.digest)
	template, archive = filepath.Join(dir, "formatted"), filepath.Join(dir, "classes.jsa")
	if exists(filepath.Join(dir, "complete")) {
		return template, archive, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", "", err
	}
	if err := tc.format(template); err != nil {
		return "", "", err
	}
	if err := tc.dumpClasses(dir, template, archive); err != nil {
		return "", "", err
	}
	return template, archive, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o644)
}

func (tc *toolchain) format(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file := dir + ".properties"
	if err := os.WriteFile(file, brokerProperties(1, 2, dir, brokerOptions{}), 0o644); err != nil {
		return err
	}
	argv := tc.command(jvm{heap: "256m", main: "kafka.tools.StorageTool", args: []string{"format", "-t", newClusterID(), "-c", file}})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("format %s: %w\n%s", strconv.Quote(dir), err, out)
	}
	return nil
}

// dumpClasses runs a broker once and has the JVM write the classes it loaded.
func (tc *toolchain) dumpClasses(dir, template, archive string) error {
	data := filepath.Join(dir, "dump")
	if err := copyFormatted(template, data, newClusterID()); err != nil {
		return err
	}
	b, err := launchOnce(tc, jvm{heap: "768m", dump: archive}, data, brokerOptions{})
	if err != nil {
		return err
	}
	b.cl.Close()
	if err := b.proc.stop(time.Minute); err != nil {
		return err
	}
	return os.RemoveAll(data)
}
