package resurge.it;

import java.util.Collection;
import java.util.Comparator;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsMetadata;
import org.apache.kafka.streams.TaskMetadata;
import org.apache.kafka.streams.ThreadMetadata;

/** What only the application knows about itself, as JSON: its threads with their tasks, and every instance's stores. */
final class Metadata {
    private Metadata() {
    }

    static String of(KafkaStreams streams) {
        return "{\"threads\":" + list(streams.metadataForLocalThreads(), Metadata::thread)
            + ",\"clients\":" + list(streams.metadataForAllStreamsClients(), Metadata::client) + "}\n";
    }

    private static String thread(ThreadMetadata thread) {
        return "{\"name\":" + quote(thread.threadName())
            + ",\"state\":" + quote(thread.threadState())
            + ",\"consumer\":" + quote(thread.consumerClientId())
            + ",\"producers\":" + strings(thread.producerClientIds())
            + ",\"active\":" + list(thread.activeTasks(), Metadata::task)
            + ",\"standby\":" + list(thread.standbyTasks(), Metadata::task) + "}";
    }

    private static String task(TaskMetadata task) {
        return "{\"id\":" + quote(task.taskId().toString())
            + ",\"partitions\":" + partitions(task.topicPartitions()) + "}";
    }

    private static String client(StreamsMetadata client) {
        return "{\"host\":" + quote(client.host() + ":" + client.port())
            + ",\"stores\":" + strings(client.stateStoreNames())
            + ",\"partitions\":" + partitions(client.topicPartitions())
            + ",\"standby_stores\":" + strings(client.standbyStateStoreNames())
            + ",\"standby_partitions\":" + partitions(client.standbyTopicPartitions()) + "}";
    }

    private static String partitions(Set<TopicPartition> partitions) {
        return strings(partitions.stream().map(TopicPartition::toString).collect(Collectors.toSet()));
    }

    private static String strings(Set<String> texts) {
        return list(texts, Metadata::quote);
    }

    private interface Printer<T> {
        String print(T value);
    }

    private static <T> String list(Collection<T> values, Printer<T> printer) {
        return values.stream().map(printer::print).sorted(Comparator.naturalOrder())
            .collect(Collectors.joining(",", "[", "]"));
    }

    private static String quote(String text) {
        return Stores.quote(text);
    }
}
