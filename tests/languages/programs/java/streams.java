import java.util.Arrays;
import java.util.Comparator;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

public class Streams {
    record Person(String name, String team, int age) {}

    public static void main(String[] args) {
        List<Person> people = List.of(
            new Person("Ann", "red", 31), new Person("Ben", "blue", 25), new Person("Cleo", "red", 44),
            new Person("Dai", "blue", 39), new Person("Eve", "green", 28));
        System.out.println(people.stream().collect(Collectors.partitioningBy(
            person -> person.age() > 30, Collectors.mapping(Person::name, Collectors.joining("+")))));
        Map<String, Double> ages = people.stream().collect(Collectors.groupingBy(Person::team, Collectors.averagingInt(Person::age)));
        ages.entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(System.out::println);
        IntSummaryStatistics all = people.stream().mapToInt(Person::age).summaryStatistics();
        System.out.println(all.getMin() + " " + all.getMax() + " " + all.getAverage());
        System.out.println(Stream.iterate(new long[] {0, 1}, f -> new long[] {f[1], f[0] + f[1]})
            .mapToLong(f -> f[0]).limit(12).boxed().toList());
        System.out.println(IntStream.rangeClosed(1, 30)
            .mapToObj(i -> i % 15 == 0 ? "FizzBuzz" : i % 5 == 0 ? "Buzz" : i % 3 == 0 ? "Fizz" : "" + i)
            .skip(9).limit(6).collect(Collectors.joining(" ")));
        System.out.println(Stream.of("b a", "c b", "a").flatMap(line -> Arrays.stream(line.split(" "))).distinct().sorted(Comparator.reverseOrder()).toList());
        System.out.println(IntStream.iterate(27, n -> n != 1, n -> n % 2 == 0 ? n / 2 : 3 * n + 1).count());
        System.out.println(Stream.of(5, 3, 8).reduce(Integer::max).get() + " " + Stream.of(1, 2, 3, 4, 1).takeWhile(n -> n < 4).toList());
    }
}
