package sandbox.shell;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import jdk.jshell.execution.LocalExecutionControl;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;

/**
 * Execution control that runs snippets in this virtual machine, on threads that can be stopped, and
 * keeps the value of the last one.
 */
final class Control extends LocalExecutionControl {
    /** Without {@code Thread.stop}, JShell has snippets look at a switch of its own. */
    private static final Method STOP = stopOfThreads();

    private final Object lock = new Object();
    private ThreadGroup group = new ThreadGroup("snippets");
    private Thread current;
    private boolean stopping;
    private Field cancelled;
    private ClassLoader loader = ClassLoader.getSystemClassLoader();
    private Object value;

    /** Returns what JShell asks for a control; there is only this one. */
    ExecutionControlProvider provider() {
        return new ExecutionControlProvider() {
            @Override
            public String name() {
                return "sandbox";
            }

            @Override
            public ExecutionControl generate(
                    ExecutionEnv environment, java.util.Map<String, String> parameters) {
                return Control.this;
            }
        };
    }

    /** Starts a run: what was stopped before does not stop it. */
    void begin() {
        synchronized (lock) {
            stopping = false;
            value = null;
            group = new ThreadGroup("run");
        }
    }

    boolean isStopping() {
        synchronized (lock) {
            return stopping;
        }
    }

    /** Returns the value of the last snippet. */
    Object value() {
        return value;
    }

    @Override
    protected String invoke(Method method) throws Exception {
        if (STOP == null) {
            prepareSwitch();
        }
        loader = method.getDeclaringClass().getClassLoader();
        value = call(() -> method.invoke(null));
        return "";
    }

    /**
     * Calls what belongs to the user on a thread that can be stopped.
     *
     * @throws StoppedException it was
     */
    <T> T call(Callable<T> job) throws Exception {
        Outcome<T> outcome = new Outcome<>();
        Thread thread = new Thread(group, () -> outcome.take(job), "main");
        thread.setContextClassLoader(loader);
        synchronized (lock) {
            if (stopping) {
                throw new StoppedException();
            }
            current = thread;
            thread.start();
        }
        thread.join();
        synchronized (lock) {
            current = null;
            if (stopping || !outcome.ended) {
                throw new StoppedException();
            }
        }
        if (outcome.failure instanceof Exception) {
            throw (Exception) outcome.failure;
        }
        if (outcome.failure != null) {
            throw new InvocationTargetException(outcome.failure);
        }
        return outcome.value;
    }

    @Override
    public void stop() {
        synchronized (lock) {
            stopping = true;
            if (current == null) {
                return;
            }
            Thread[] threads = new Thread[group.activeCount() + 8];
            int count = group.enumerate(threads);
            for (int i = 0; i < count; i++) {
                stop(threads[i]);
            }
        }
    }

    private void stop(Thread thread) {
        try {
            if (STOP != null) {
                STOP.invoke(thread);
                return;
            }
            if (cancelled != null) {
                cancelled.set(null, true);
            }
            thread.interrupt();
        } catch (ReflectiveOperationException impossible) {
            thread.interrupt();
        }
    }

    private void prepareSwitch() throws Exception {
        if (cancelled == null) {
            Thread.UncaughtExceptionHandler kept = Thread.getDefaultUncaughtExceptionHandler();
            Method nothing = Control.class.getDeclaredMethod("nothing");
            nothing.setAccessible(true);
            super.invoke(nothing);
            Thread.setDefaultUncaughtExceptionHandler(kept);
            cancelled = findClass("REPL.$Cancel$").getDeclaredField("allStop");
        }
        cancelled.set(null, false);
    }

    /** Snippet that makes JShell create its switch. */
    private static void nothing() {}

    /** Returns a value as JShell prints it. */
    static String describe(Object value) {
        return valueString(value);
    }

    private static Method stopOfThreads() {
        try {
            return Runtime.version().feature() < 20 ? Thread.class.getMethod("stop") : null;
        } catch (NoSuchMethodException gone) {
            return null;
        }
    }

    /** Outcome of a call. */
    private static final class Outcome<T> {
        private T value;
        private Throwable failure;
        private volatile boolean ended;

        private void take(Callable<T> job) {
            try {
                value = job.call();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            ended = true;
        }
    }
}
