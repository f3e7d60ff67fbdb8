package resurge.it;

import java.time.Instant;
import java.util.function.Function;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.ReadOnlySessionStore;
import org.apache.kafka.streams.state.ReadOnlyWindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;

/** Interactive queries over the local state, as JSON. Null means absent. */
final class Stores {
    private final KafkaStreams streams;

    Stores(KafkaStreams streams) {
        this.streams = streams;
    }

    /** One key: its value, or, of a windowed or session store, a JSON array or the window that starts at {@code start}. */
    String one(String store, String key, Instant start) {
        return switch (store) {
            case Orders.PER_MINUTE -> window(key, start);
            case Orders.SESSIONS -> sessions(key);
            default -> keyValue(store, key);
        };
    }

    private String keyValue(String store, String key) {
        Object value = keyValues(store).get(key);
        return value == null ? null : line(key, value);
    }

    private String window(String key, Instant start) {
        if (start == null) {
            try (WindowStoreIterator<Long> windows = windows().fetch(key, Instant.EPOCH, Instant.ofEpochMilli(Long.MAX_VALUE))) {
                return total(key, windows, pair -> pair.value);
            }
        }
        Long value = windows().fetch(key, start.toEpochMilli());
        return value == null ? null : line(key, value);
    }

    private String sessions(String key) {
        try (KeyValueIterator<Windowed<String>, Long> found = sessions().fetch(key)) {
            return total(key, found, pair -> pair.value);
        }
    }

    private static <K> String total(String key, KeyValueIterator<K, Long> values, Function<KeyValue<K, Long>, Long> value) {
        long n = 0;
        long sum = 0;
        while (values.hasNext()) {
            n++;
            sum += value.apply(values.next());
        }
        return n == 0 ? null : line(key, sum);
    }

    /** How many entries the local part of the store has, and what they add up to (values that are no numbers count 1). */
    String sum(String store) {
        long[] keysAndSum = new long[2];
        each(store, (key, start, end, value) -> {
            keysAndSum[0]++;
            keysAndSum[1] += value instanceof Long number ? number : 1;
        });
        return "{\"keys\":" + keysAndSum[0] + ",\"sum\":" + keysAndSum[1] + "}\n";
    }

    /** Every local entry, one JSON object a line; windows have start and end. */
    String all(String store) {
        StringBuilder lines = new StringBuilder();
        each(store, (key, start, end, value) -> lines.append(
            start < 0 ? line(key, value)
                : "{\"key\":" + quote(key) + ",\"start\":" + start + ",\"end\":" + end + ",\"value\":" + json(value) + "}\n"));
        return lines.toString();
    }

    private interface Entry {
        void accept(String key, long start, long end, Object value);
    }

    private void each(String store, Entry entry) {
        switch (store) {
            case Orders.PER_MINUTE -> {
                try (KeyValueIterator<Windowed<String>, Long> found = windows().all()) {
                    eachWindow(found, entry);
                }
            }
            case Orders.SESSIONS -> {
                try (KeyValueIterator<Windowed<String>, Long> found = sessions().fetch(null, null)) {
                    eachWindow(found, entry);
                }
            }
            default -> {
                try (KeyValueIterator<String, Object> found = keyValues(store).all()) {
                    found.forEachRemaining(pair -> entry.accept(pair.key, -1, -1, pair.value));
                }
            }
        }
    }

    private static void eachWindow(KeyValueIterator<Windowed<String>, Long> found, Entry entry) {
        found.forEachRemaining(pair ->
            entry.accept(pair.key.key(), pair.key.window().start(), pair.key.window().end(), pair.value));
    }

    private ReadOnlyKeyValueStore<String, Object> keyValues(String store) {
        return streams.store(StoreQueryParameters.fromNameAndType(store, QueryableStoreTypes.keyValueStore()));
    }

    private ReadOnlyWindowStore<String, Long> windows() {
        return streams.store(StoreQueryParameters.fromNameAndType(Orders.PER_MINUTE, QueryableStoreTypes.windowStore()));
    }

    private ReadOnlySessionStore<String, Long> sessions() {
        return streams.store(StoreQueryParameters.fromNameAndType(Orders.SESSIONS, QueryableStoreTypes.sessionStore()));
    }

    private static String line(String key, Object value) {
        return "{\"key\":" + quote(key) + ",\"value\":" + json(value) + "}\n";
    }

    private static String json(Object value) {
        return value instanceof Number ? value.toString() : quote(value.toString());
    }

    static String quote(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
