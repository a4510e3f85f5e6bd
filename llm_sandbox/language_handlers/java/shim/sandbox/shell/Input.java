package sandbox.shell;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;

/**
 * Standard input, read by a separate thread, so that a waiting reader can be stopped. Unread input
 * and the end of input of one run do not affect the next.
 */
final class Input extends InputStream {
    private final InputStream raw;
    private byte[] held = new byte[0];
    private int at;
    private int run;
    private int waiting;
    private boolean wanted;
    private boolean ended;

    Input(InputStream raw) {
        this.raw = raw;
        Thread reader = new Thread(this::serve, "input");
        reader.setDaemon(true);
        reader.start();
    }

    synchronized void begin() {
        run++;
        ended = false;
        held = new byte[0];
        at = 0;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public synchronized int read(byte[] target, int offset, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (at == held.length) {
            await();
        }
        int count = Math.min(length, held.length - at);
        if (count == 0) {
            return -1;
        }
        System.arraycopy(held, at, target, offset, count);
        at += count;
        return count;
    }

    private void await() throws IOException {
        ended = false;
        waiting++;
        try {
            while (at == held.length && !ended) {
                wanted = true;
                notifyAll();
                wait();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        } finally {
            waiting--;
        }
    }

    @Override
    public synchronized int available() throws IOException {
        int count = held.length - at;
        return count > 0 ? count : raw.available();
    }

    private void serve() {
        byte[] buffer = new byte[1 << 16];
        while (true) {
            int asked = takeOrder();
            int count;
            try {
                count = raw.read(buffer);
            } catch (IOException broken) {
                count = -1;
            }
            deliver(buffer, count, asked);
        }
    }

    private synchronized int takeOrder() {
        while (!wanted) {
            try {
                wait();
            } catch (InterruptedException never) {
                // Nobody knows this thread.
            }
        }
        wanted = false;
        return run;
    }

    private synchronized void deliver(byte[] buffer, int count, int asked) {
        if (count > 0) {
            byte[] more = new byte[held.length - at + count];
            System.arraycopy(held, at, more, 0, held.length - at);
            System.arraycopy(buffer, 0, more, held.length - at, count);
            held = more;
            at = 0;
            wanted = false;
        } else if (asked == run) {
            ended = true;
            wanted = false;
        } else {
            wanted = waiting > 0;
        }
        notifyAll();
    }
}
