package resurge.it;

import java.time.Duration;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.GlobalKTable;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The topology: one input of orders (key: customer, value: item, for example {@code p3-item-17}), every kind of state
 * that a recovery has to bring back, and a repartition topic between two subtopologies.
 */
final class Orders {
    static final String COUNTS = "counts";
    static final String PER_MINUTE = "per-minute";
    static final String SESSIONS = "sessions";
    static final String PREFIX_COUNTS = "prefix-counts";
    static final String CUSTOMERS = "customers-store";
    static final String REGIONS = "regions-store";

    private static final Duration GRACE = Duration.ofMinutes(5);

    private Orders() {
    }

    static Topology topology(Options options, Properties config) {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<String, String> orders =
            builder.stream(options.text("orders"), Consumed.with(Serdes.String(), Serdes.String()));
        counts(orders);
        prefixCounts(orders, options.text("totals"));
        joins(builder, orders, options);
        return builder.build(config);
    }

    private static void counts(KStream<String, String> orders) {
        orders.groupByKey().count(Materialized.as(COUNTS));
        orders.groupByKey()
            .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(1), GRACE))
            .count(Materialized.as(PER_MINUTE));
        orders.groupByKey()
            .windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(30), GRACE))
            .count(Materialized.as(SESSIONS));
    }

    private static void prefixCounts(KStream<String, String> orders, String totals) {
        orders.groupBy((customer, item) -> prefix(item), Grouped.as("by-prefix"))
            .count(Materialized.as(PREFIX_COUNTS))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(totals, Produced.with(Serdes.String(), Serdes.String()));
    }

    private static void joins(StreamsBuilder builder, KStream<String, String> orders, Options options) {
        KTable<String, String> customers = builder.table(
            options.text("customers"),
            Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(CUSTOMERS)
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.String()));
        GlobalKTable<String, String> regions = builder.globalTable(
            options.text("regions"),
            Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as(REGIONS)
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.String()));
        // One order in a hundred: enough to see the output, and not a second copy of the input.
        orders.filter((customer, item) -> item.endsWith("00"))
            .join(customers, (item, name) -> item + " for " + name)
            .leftJoin(regions, (customer, line) -> prefix(line), (line, region) -> line + " in " + region)
            .to(options.text("joined"), Produced.with(Serdes.String(), Serdes.String()));
    }

    private static String prefix(String item) {
        int dash = item.indexOf('-');
        return dash < 0 ? item : item.substring(0, dash);
    }
}
