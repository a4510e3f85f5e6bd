package sandbox.shell;

import java.io.FileDescriptor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;

/** Access to process state that Java does not expose: descriptors, environment variables. */
final class Internals {
    private static final Class<?> TYPE;
    private static final Object UNSAFE;

    static {
        try {
            TYPE = Class.forName("sun.misc.Unsafe");
            Field field = TYPE.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            UNSAFE = field.get(null);
        } catch (ReflectiveOperationException absent) {
            throw new ExceptionInInitializerError(absent);
        }
    }

    private Internals() {}

    /** Returns a descriptor of this process; opening it anew by its path may be refused. */
    static FileDescriptor descriptor(int number) throws ReflectiveOperationException {
        FileDescriptor descriptor = new FileDescriptor();
        long offset = offset("objectFieldOffset", FileDescriptor.class.getDeclaredField("fd"));
        TYPE.getMethod("putInt", Object.class, long.class, int.class)
            .invoke(UNSAFE, descriptor, offset, number);
        return descriptor;
    }

    /**
     * Sets a variable of the environment, for this program and the children that it names variables
     * for; others get those that this program was started with.
     */
    @SuppressWarnings("unchecked")
    static void setVariable(String name, String value) throws ReflectiveOperationException {
        Class<?> holder = Class.forName("java.lang.ProcessEnvironment");
        Field field = holder.getDeclaredField("theUnmodifiableEnvironment");
        Object base = TYPE.getMethod("staticFieldBase", Field.class).invoke(UNSAFE, field);
        Object shown = get(base, offset("staticFieldOffset", field));
        Field inner = Class.forName("java.util.Collections$UnmodifiableMap").getDeclaredField("m");
        var variables = (Map<String, String>) get(shown, offset("objectFieldOffset", inner));
        if (value == null) {
            variables.remove(name);
        } else {
            variables.put(name, value);
        }
    }

    private static long offset(String method, Field field) throws ReflectiveOperationException {
        Method found = TYPE.getMethod(method, Field.class);
        return (long) found.invoke(UNSAFE, field);
    }

    private static Object get(Object base, long offset) throws ReflectiveOperationException {
        return TYPE.getMethod("getObject", Object.class, long.class).invoke(UNSAFE, base, offset);
    }
}
