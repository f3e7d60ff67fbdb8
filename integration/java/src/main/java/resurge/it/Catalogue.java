package resurge.it;

import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TableJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.api.ContextualFixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * A topology that nobody would write: every kind of store and of internal topic once, named by the user and by Streams.
 * It is there to be described. Every topic of its own is named {@code WHAT.SUFFIX}, see {@link #topic}.
 */
final class Catalogue {
    // The default serdes would do for most, but not for suppressed windows.
    private static final Consumed<String, String> STRINGS = Consumed.with(Serdes.String(), Serdes.String());
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final Duration GRACE = Duration.ofMinutes(5);

    private final StreamsBuilder builder = new StreamsBuilder();
    private final String suffix;

    private Catalogue(String suffix) {
        this.suffix = suffix;
    }

    static Topology topology(Options options, Properties config) {
        Catalogue catalogue = new Catalogue(options.text("catalogue"));
        KStream<String, String> events = catalogue.builder.stream(catalogue.topic("events"), STRINGS);
        catalogue.aggregates(events);
        catalogue.suppressions(events);
        catalogue.repartitions(events);
        catalogue.streamJoins(events);
        catalogue.tables(events);
        catalogue.audits(options.text("protocol").equals("classic"));
        catalogue.builder.stream(catalogue.topic("notes"), STRINGS).to(catalogue.topic("noted")); // a task without state
        return catalogue.builder.build(config);
    }

    private String topic(String what) {
        return what + "." + suffix;
    }

    /** Every aggregate twice: with a store of the user's name, and of a generated one. */
    private void aggregates(KStream<String, String> events) {
        KGroupedStream<String, String> grouped = events.groupByKey();
        grouped.count(Materialized.as("counts"));
        grouped.reduce((before, item) -> item);
        grouped.windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE)).count(Materialized.as("per-minute"));
        grouped.windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE)).count();
        SessionWindows sessions = SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(30), GRACE);
        grouped.windowedBy(sessions).count(Materialized.as("sessions"));
        grouped.windowedBy(sessions).count();
    }

    private void suppressions(KStream<String, String> events) {
        events.groupByKey()
            .windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, Duration.ofSeconds(10)))
            .count(Materialized.as("final-windows"))
            .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()).withName("final"))
            .toStream((window, count) -> window.key())
            .mapValues(count -> Long.toString(count))
            .to(topic("finals"));
        events.groupByKey()
            .count(Materialized.as("hourly"))
            .suppress(Suppressed.untilTimeLimit(Duration.ofHours(1), Suppressed.BufferConfig.unbounded()))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(topic("hourly"));
    }

    private void repartitions(KStream<String, String> events) {
        events.groupBy((key, item) -> prefix(item), Grouped.as("by-prefix"))
            .count(Materialized.as("prefix-counts"));
        events.groupBy((key, item) -> prefix(item)).count()
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to((key, count, context) -> topic("routed-" + key), Produced.with(Serdes.String(), Serdes.String()));
        // Two repartitions of one stream, which the optimisation makes one.
        KStream<String, String> byItem = events.selectKey((key, item) -> item);
        byItem.groupByKey().count();
        byItem.groupByKey().windowedBy(SessionWindows.ofInactivityGapAndGrace(WINDOW, GRACE)).count();
        custom(events.selectKey((key, item) -> item + "!")
            .repartition(Repartitioned.<String, String>as("rekeyed").withNumberOfPartitions(3)));
    }

    /** One store with a changelog, one without. */
    private void custom(KStream<String, String> items) {
        builder.addStateStore(Stores.keyValueStoreBuilder(
            Stores.persistentKeyValueStore("seen"), Serdes.String(), Serdes.String()));
        builder.addStateStore(Stores.keyValueStoreBuilder(
            Stores.persistentKeyValueStore("scratch"), Serdes.String(), Serdes.String()).withLoggingDisabled());
        items.processValues(Seen::new, "seen", "scratch");
    }

    private static final class Seen extends ContextualFixedKeyProcessor<String, String, String> {
        private KeyValueStore<String, String> seen;
        private KeyValueStore<String, String> scratch;

        @Override
        public void init(FixedKeyProcessorContext<String, String> context) {
            super.init(context);
            seen = context.getStateStore("seen");
            scratch = context.getStateStore("scratch");
        }

        @Override
        public void process(FixedKeyRecord<String, String> item) {
            seen.put(item.key(), item.value());
            scratch.put(item.key(), item.value());
        }
    }

    private void streamJoins(KStream<String, String> events) {
        KStream<String, String> clicks = builder.stream(topic("clicks"), STRINGS);
        JoinWindows within = JoinWindows.ofTimeDifferenceAndGrace(WINDOW, GRACE);
        events.join(clicks, (event, click) -> event + click, within);
        events.leftJoin(clicks, (event, click) -> event + click, within,
            StreamJoined.<String, String, String>as("lefts").withStoreName("lefts"));
        events.outerJoin(clicks, (event, click) -> event + click, within);
    }

    private void tables(KStream<String, String> events) {
        KTable<String, String> items = builder.table(topic("items"), STRINGS); // value: the key of a profile
        KTable<String, String> profiles = builder.table(topic("profiles"), STRINGS, Materialized.as("profiles-store"));
        KTable<String, String> badges = builder.table(topic("badges"), STRINGS);
        KTable<String, String> prices = builder.table(topic("prices"), STRINGS,
            Materialized.as(Stores.persistentVersionedKeyValueStore("prices-versioned", Duration.ofDays(1))));

        items.join(profiles, profile -> profile, (item, profile) -> item + profile);
        items.leftJoin(profiles, profile -> profile, (item, profile) -> item + profile, TableJoined.as("owners"),
            Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("item-owners")
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.String()));
        profiles.join(badges, (profile, badge) -> profile + badge, Materialized.as("profile-badges"));
        profiles.outerJoin(badges, (profile, badge) -> profile + badge).filter((key, value) -> true);
        profiles.groupBy((key, profile) -> KeyValue.pair(prefix(profile), profile)).count();

        events.join(prices, (event, price) -> event + price,
            Joined.<String, String, String>as("priced").withGracePeriod(Duration.ofSeconds(10)));
        events.join(builder.globalTable(topic("regions")), (key, item) -> prefix(item), (item, region) -> item + region);
        builder.globalTable(topic("zones"), Materialized.as("zones-store"));
    }

    /** Topics chosen by a pattern, which the streams protocol does not support (4.4): a list there. */
    private void audits(boolean pattern) {
        KStream<String, String> audits = pattern
            ? builder.stream(Pattern.compile("audit\\.[a-z]+" + Pattern.quote("." + suffix)), STRINGS)
            : builder.stream(List.of(topic("audit.login"), topic("audit.logout")), STRINGS);
        audits.groupByKey().count(Materialized.as("audits"));
    }

    private static String prefix(String item) {
        int dash = item.indexOf('-');
        return dash < 0 ? item : item.substring(0, dash);
    }
}
