import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Comparator;

@Retention(RetentionPolicy.RUNTIME)
@interface Check {
    String value();

    Class<? extends Throwable> fails() default None.class;

    final class None extends Throwable {}
}

/** Finds its own checks by their annotations, as a test runner does. */
public class Notes {
    interface Greeter {
        String greet(String name);
    }

    @Check("sums")
    public void sums() {
        require(2 + 2 == 4);
    }

    @Check(value = "division", fails = ArithmeticException.class)
    public void division() {
        System.out.println(1 / (2 - 2));
    }

    @Check("wrong")
    public void wrong() {
        require("a".isEmpty());
    }

    private static void require(boolean holds) {
        if (!holds) {
            throw new AssertionError("does not hold");
        }
    }

    public static void main(String[] args) throws Exception {
        Method[] methods = Notes.class.getDeclaredMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        for (Method method : methods) {
            Check check = method.getAnnotation(Check.class);
            if (check == null) {
                continue;
            }
            String outcome = "passed";
            try {
                method.invoke(new Notes());
            } catch (InvocationTargetException thrown) {
                boolean expected = check.fails().isInstance(thrown.getCause());
                outcome = expected ? "passed" : "failed: " + thrown.getCause().getMessage();
            }
            System.out.println(check.value() + " " + outcome);
        }
        Greeter greeter = (Greeter) Proxy.newProxyInstance(Notes.class.getClassLoader(), new Class<?>[] {Greeter.class},
            (proxy, method, arguments) -> method.getName() + ":" + arguments[0]);
        System.out.println(greeter.greet("you"));
    }
}
