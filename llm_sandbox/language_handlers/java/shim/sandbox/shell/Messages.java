package sandbox.shell;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Messages to and from the kernel: {@code NAME SIZE}, a line end, SIZE bytes, a line end for each
 * field, then an empty line.
 */
final class Messages {
    private final InputStream requests;
    private final OutputStream answers;
    /** Between a run and the next, nobody takes what a thread of the user's may still show. */
    private volatile boolean running;
    /** Sends alone: a thread of the user's may be stopped at any time, and must leave no half. */
    private final ExecutorService sender = Executors.newSingleThreadExecutor(job -> {
        Thread thread = new Thread(job, "messages");
        thread.setDaemon(true);
        return thread;
    });

    Messages(InputStream requests, OutputStream answers) {
        this.requests = new BufferedInputStream(requests);
        this.answers = answers;
    }

    /** Returns the next message, with its kind as the field {@code kind}; null at the end. */
    Map<String, byte[]> read() throws IOException {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        while (true) {
            String head = readLine();
            if (head == null) {
                return null;
            }
            if (head.isEmpty()) {
                running |= text(fields.get("kind")).equals("run");
                return fields;
            }
            int space = head.lastIndexOf(' ');
            int size = Integer.parseInt(head.substring(space + 1));
            byte[] value = requests.readNBytes(size);
            if (value.length < size || requests.read() != '\n') {
                throw new EOFException();
            }
            fields.put(head.substring(0, space), value);
        }
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = requests.read(); next != '\n'; next = requests.read()) {
            if (next < 0) {
                return null;
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    /** Sends a message that is not answered. */
    void tell(String kind, Map<String, byte[]> fields) {
        send(kind, fields, false);
    }

    /** Sends a message and waits until it has been taken. */
    void show(String kind, Map<String, byte[]> fields) {
        send(kind, fields, true);
    }

    private void send(String kind, Map<String, byte[]> fields, boolean acknowledged) {
        System.out.flush();
        System.err.flush();
        byte[] message = encode(kind, fields);
        try {
            sender.submit(() -> {
                if (acknowledged && !running) {
                    return null;
                }
                running &= !kind.equals("done");
                answers.write(message);
                if (acknowledged && read() == null) {
                    throw new EOFException();
                }
                return null;
            }).get();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException gone) {
            Runtime.getRuntime().halt(0);
        }
    }

    private static byte[] encode(String kind, Map<String, byte[]> fields) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        add(message, "kind", text(kind));
        fields.forEach((name, value) -> add(message, name, value));
        message.write('\n');
        return message.toByteArray();
    }

    private static void add(ByteArrayOutputStream message, String name, byte[] value) {
        message.writeBytes(text(name + " " + value.length + "\n"));
        message.writeBytes(value);
        message.write('\n');
    }

    static byte[] text(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] value) {
        return value == null ? null : new String(value, StandardCharsets.UTF_8);
    }
}
