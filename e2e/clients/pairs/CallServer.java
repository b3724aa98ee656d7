import java.net.Authenticator;
import java.net.PasswordAuthentication;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** Calls a URL with a token in several ways. Prints a line for each: what it did, and what it saw. */
final class CallServer {
    private static final byte[] BODY = new byte[1_000_000];
    private static final int CALLS = 20;

    private final String url;
    private final String token;

    private CallServer(String url, String token) {
        this.url = url;
        this.token = token;
    }

    public static void main(String[] args) {
        new CallServer(args[0], args[1]).run();
        // The threads of the clients live on for a while.
        System.exit(0);
    }

    private void run() {
        HttpClient client = builder(HttpClient.Version.HTTP_1_1).build();
        BodyPublisher chunked = BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(BODY));
        print("GET, version HTTP/2 (upgrade to h2c)", () ->
            status(builder(HttpClient.Version.HTTP_2).build(), get("/")));
        print("GET, version HTTP/1.1", () -> status(client, get("/")));
        print("POST of 1 MB", () -> sent(client, post(BodyPublishers.ofByteArray(BODY))));
        print("POST, length unknown (chunked)", () -> sent(client, post(chunked)));
        print("POST, `expectContinue`", () ->
            sent(client, post(BodyPublishers.ofByteArray(BODY)).expectContinue(true)));
        print(CALLS + " calls at once", () -> atOnce(client));
        print("`Authenticator` with the token as password", () ->
            status(builder(HttpClient.Version.HTTP_1_1).authenticator(authenticator()).build(),
                HttpRequest.newBuilder(URI.create(url + "/"))));
        print("redirect to a path", () -> status(client, get("/from")));
    }

    private static HttpClient.Builder builder(HttpClient.Version version) {
        return HttpClient.newBuilder()
            .version(version)
            .connectTimeout(Duration.ofSeconds(10))
            .followRedirects(HttpClient.Redirect.NORMAL);
    }

    private HttpRequest.Builder get(String path) {
        return HttpRequest.newBuilder(URI.create(url + path)).header("Authorization", "Bearer " + token);
    }

    private HttpRequest.Builder post(BodyPublisher body) {
        return get("/").POST(body);
    }

    private Authenticator authenticator() {
        return new Authenticator() {
            @Override
            protected PasswordAuthentication getPasswordAuthentication() {
                return new PasswordAuthentication("java", token.toCharArray());
            }
        };
    }

    private static String status(HttpClient client, HttpRequest.Builder request) throws Exception {
        return String.valueOf(client.send(request.build(), BodyHandlers.discarding()).statusCode());
    }

    private static String sent(HttpClient client, HttpRequest.Builder request) throws Exception {
        HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
        return response.statusCode() + ", " + response.body();
    }

    private String atOnce(HttpClient client) {
        long answered = IntStream.range(0, CALLS)
            .mapToObj(call -> client.sendAsync(get("/").build(), BodyHandlers.discarding()))
            .toList().stream()
            .map(CompletableFuture::join)
            .filter(response -> response.statusCode() == 200)
            .count();
        return answered + " answered";
    }

    private static void print(String what, Callable<String> call) {
        String seen;
        try {
            seen = call.call();
        } catch (Exception error) {
            seen = "error: " + error.getMessage();
        }
        System.out.println(what + " = " + seen);
    }
}
