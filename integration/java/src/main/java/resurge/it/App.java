package resurge.it;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.state.BuiltInDslStoreSuppliers;

/** The Kafka Streams application that the integration tests break and recover. SIGTERM closes it cleanly. */
public final class App {
    private App() {
    }

    public static void main(String[] args) throws Exception {
        Options options = Options.parse(args);
        List<KafkaStreams> all = new ArrayList<>();
        Topology topology = null;
        for (String id : options.applicationIds()) {
            Properties config = config(id, options);
            topology = topology(options, config);
            all.add(create(id, topology, config));
        }
        try (QueryServer server = new QueryServer(options.number("http-port"), all, topology.describe().toString())) {
            say("listening on " + server.port());
            CountDownLatch closed = closeOnSignal(all, options.flag("leave-on-close"));
            for (KafkaStreams streams : all) {
                if (options.flag("clean-up")) {
                    streams.cleanUp();
                }
                streams.start();
            }
            closed.await();
        }
    }

    private static Topology topology(Options options, Properties config) {
        return switch (options.text("topology")) {
            case "orders" -> Orders.topology(options, config);
            case "catalogue" -> Catalogue.topology(options, config);
            default -> throw new IllegalArgumentException("unknown topology " + options.text("topology"));
        };
    }

    private static KafkaStreams create(String id, Topology topology, Properties config) {
        KafkaStreams streams = new KafkaStreams(topology, config);
        streams.setStateListener((now, before) -> say(id + " " + before + " -> " + now));
        streams.setUncaughtExceptionHandler(error -> {
            say(id + " died: " + error);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        return streams;
    }

    private static CountDownLatch closeOnSignal(List<KafkaStreams> all, boolean leave) {
        CountDownLatch closed = new CountDownLatch(1);
        CloseOptions close = CloseOptions.timeout(Duration.ofSeconds(30)).withGroupMembershipOperation(
            leave ? CloseOptions.GroupMembershipOperation.LEAVE_GROUP
                : CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            for (KafkaStreams streams : all) {
                if (leave) {
                    streams.close(close);
                } else {
                    streams.close(Duration.ofSeconds(30));
                }
            }
            say("closed");
            closed.countDown();
        }));
        return closed;
    }

    private static Properties config(String id, Options options) {
        Properties p = new Properties();
        p.put(StreamsConfig.APPLICATION_ID_CONFIG, id);
        p.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, options.text("bootstrap-server"));
        p.put(StreamsConfig.STATE_DIR_CONFIG, options.text("state-dir"));
        p.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, options.text("protocol"));
        p.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, options.text("guarantee"));
        p.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, options.text("threads"));
        p.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, options.text("commit-interval-ms"));
        p.put(StreamsConfig.REPARTITION_PURGE_INTERVAL_MS_CONFIG, options.text("purge-interval-ms"));
        p.put(StreamsConfig.APPLICATION_SERVER_CONFIG, "127.0.0.1:" + options.text("http-port"));
        p.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, "-1");
        p.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        p.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        p.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), options.text("auto-offset-reset"));
        if (options.flag("optimize")) {
            p.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.OPTIMIZE);
        }
        if (options.flag("in-memory")) {
            p.put(StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, BuiltInDslStoreSuppliers.InMemoryDslStoreSuppliers.class);
        }
        if (options.text("protocol").equals("classic")) { // with the streams protocol these two are the broker's
            p.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, options.text("standbys"));
            int session = options.number("session-timeout-ms");
            p.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG), session);
            p.put(StreamsConfig.mainConsumerPrefix(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG), session / 4);
        }
        if (!options.text("internal-prefix").isEmpty()) {
            p.put(StreamsConfig.InternalConfig.TOPIC_PREFIX_ALTERNATIVE, options.text("internal-prefix"));
        }
        return p;
    }

    /** One line on standard output: the harness reads these. */
    static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
