import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

public class Closures {
    static IntSupplier counter(int start) {
        int[] state = {start};
        return () -> state[0]++;
    }

    static <A, B> Function<A, B> remembered(Function<A, B> function) {
        Map<A, B> known = new HashMap<>();
        return argument -> known.computeIfAbsent(argument, key -> {
            System.out.println("computing " + key);
            return function.apply(key);
        });
    }

    static <A, B, C> Function<A, Function<B, C>> curried(BiFunction<A, B, C> function) {
        return a -> b -> function.apply(a, b);
    }

    public static void main(String[] args) {
        IntSupplier one = counter(1);
        IntSupplier ten = counter(10);
        System.out.println(one.getAsInt() + " " + one.getAsInt() + " " + ten.getAsInt());

        Function<Integer, Integer> square = remembered(n -> n * n);
        System.out.println(square.apply(7) + square.apply(7) + square.apply(2));

        System.out.println(Closures.<Integer, Integer, Integer>curried(Math::max).apply(3).apply(9));

        List<Supplier<String>> later = new ArrayList<>();
        for (String word : List.of("a", "b", "c")) {
            later.add(() -> word.repeat(2));
        }
        later.forEach(supplier -> System.out.print(supplier.get() + " "));
        System.out.println();

        UnaryOperator<String> shout = String::toUpperCase;
        Function<String, String> both = shout.andThen(text -> text + "!").compose(String::strip);
        System.out.println(both.apply("  hello  "));
    }
}
