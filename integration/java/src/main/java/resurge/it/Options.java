package resurge.it;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;

/**
 * What the application is told: {@code --name=value} flags over an optional {@code --config=FILE} properties file
 * with the same names. An unknown name is an error, so that a test cannot misspell a setting and pass.
 */
final class Options {
    private static final Map<String, String> DEFAULTS = defaults();

    private final Map<String, String> values;

    private Options(Map<String, String> values) {
        this.values = values;
    }

    private static Map<String, String> defaults() {
        Map<String, String> d = new HashMap<>();
        d.put("bootstrap-server", "");
        d.put("application-id", ""); // several, separated by commas, run in one JVM (copies of one application)
        d.put("state-dir", "");
        d.put("protocol", "classic"); // or streams (KIP-1071)
        d.put("guarantee", "at_least_once"); // or exactly_once_v2
        d.put("threads", "1");
        d.put("standbys", "0");
        d.put("optimize", "false");
        d.put("in-memory", "false"); // instead of RocksDB
        d.put("http-port", "0");
        d.put("commit-interval-ms", "100");
        d.put("auto-offset-reset", "earliest");
        d.put("session-timeout-ms", "6000");
        d.put("internal-prefix", ""); // ksqlDB's private override of the internal topics' prefix
        d.put("clean-up", "false"); // KafkaStreams#cleanUp before the start
        d.put("leave-on-close", "false"); // a classic member normally stays until its session times out
        d.put("purge-interval-ms", "30000"); // of consumed repartition records
        d.put("topology", "orders"); // or catalogue
        d.put("catalogue", ""); // what the names of the catalogue's own topics end in
        d.put("orders", "orders");
        d.put("customers", "customers");
        d.put("regions", "regions");
        d.put("totals", "order-totals");
        d.put("joined", "order-names");
        return d;
    }

    static Options parse(String[] args) throws IOException {
        Map<String, String> flags = new HashMap<>();
        for (String arg : args) {
            int eq = arg.indexOf('=');
            if (!arg.startsWith("--") || eq < 0) {
                throw new IllegalArgumentException("want --name=value, got " + arg);
            }
            flags.put(arg.substring(2, eq), arg.substring(eq + 1));
        }
        Map<String, String> values = new HashMap<>(DEFAULTS);
        String file = flags.remove("config");
        if (file != null) {
            Properties properties = new Properties();
            try (Reader reader = Files.newBufferedReader(Path.of(file), StandardCharsets.UTF_8)) {
                properties.load(reader);
            }
            properties.stringPropertyNames().forEach(name -> put(values, name, properties.getProperty(name)));
        }
        flags.forEach((name, value) -> put(values, name, value));
        for (String required : List.of("bootstrap-server", "application-id", "state-dir")) {
            if (values.get(required).isEmpty()) {
                throw new IllegalArgumentException("--" + required + " is required");
            }
        }
        return new Options(values);
    }

    private static void put(Map<String, String> values, String name, String value) {
        if (!DEFAULTS.containsKey(name)) {
            throw new IllegalArgumentException("unknown option " + name + ", known: " + new TreeSet<>(DEFAULTS.keySet()));
        }
        values.put(name, value);
    }

    String text(String name) {
        return values.get(name);
    }

    int number(String name) {
        return Integer.parseInt(values.get(name));
    }

    boolean flag(String name) {
        return Boolean.parseBoolean(values.get(name));
    }

    List<String> applicationIds() {
        return List.of(text("application-id").split(","));
    }
}
