package resurge.it;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.InvalidStateStoreException;

/**
 * The query endpoint an operator's application would have.
 *
 * <p>{@code /health}, {@code /topology}, {@code /metadata}, {@code /store/STORE/KEY}, {@code /store/per-minute/KEY?start=MS},
 * {@code /sum/STORE}, {@code /all/STORE}. 404: no such key. 503: the store is not ready to answer.
 */
final class QueryServer implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService workers = Executors.newFixedThreadPool(2);
    private final List<KafkaStreams> all;
    private final Stores stores;
    private final String topology;

    QueryServer(int port, List<KafkaStreams> all, String topology) throws IOException {
        this.all = all;
        this.stores = new Stores(all.get(0)); // copies exist for their offsets and topics, not for their answers
        this.topology = topology;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", this::handle);
        server.setExecutor(workers);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        workers.shutdownNow();
    }

    private record Answer(int status, String body) {
    }

    private void handle(HttpExchange exchange) throws IOException {
        Answer answer;
        try {
            answer = answer(exchange.getRequestURI());
        } catch (InvalidStateStoreException e) {
            answer = new Answer(503, e.getClass().getSimpleName() + ": " + e.getMessage() + "\n");
        } catch (RuntimeException e) {
            answer = new Answer(500, e + "\n");
        }
        byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(answer.status, body.length == 0 ? -1 : body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private Answer answer(URI uri) {
        String[] path = uri.getPath().split("/");
        String what = path.length > 1 ? path[1] : "";
        return switch (what) {
            case "health" -> health();
            case "topology" -> new Answer(200, topology);
            case "metadata" -> new Answer(200, Metadata.of(all.get(0)));
            case "sum" -> found(stores.sum(path[2]));
            case "all" -> found(stores.all(path[2]));
            case "store" -> found(stores.one(path[2], path[3], start(uri)));
            default -> new Answer(404, "no such page\n");
        };
    }

    private static Answer found(String body) {
        return body == null ? new Answer(404, "not found\n") : new Answer(200, body);
    }

    private static Instant start(URI uri) {
        String query = uri.getQuery();
        if (query == null || !query.startsWith("start=")) {
            return null;
        }
        return Instant.ofEpochMilli(Long.parseLong(query.substring("start=".length())));
    }

    private Answer health() {
        for (KafkaStreams streams : all) {
            if (streams.state() != KafkaStreams.State.RUNNING) {
                return new Answer(503, streams.state() + "\n");
            }
        }
        return new Answer(200, "RUNNING\n");
    }
}
