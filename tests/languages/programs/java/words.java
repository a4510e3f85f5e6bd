import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

public class Words {
    private static final String TEXT = """
        Évery night the owl counts the stars. The owl is old; the stars are older!
        "Count with me," says the owl — and the night counts: one, two, three...
        """;

    static String wrap(String text, int width) {
        StringBuilder lines = new StringBuilder();
        int used = 0;
        for (String word : text.split("\\s+")) {
            if (used > 0 && used + 1 + word.length() > width) {
                lines.append('\n');
                used = 0;
            }
            lines.append(used > 0 ? " " : "").append(word);
            used += word.length() + (used > 0 ? 1 : 0);
        }
        return lines.toString();
    }

    static boolean isPalindrome(String text) {
        String letters = text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}]", "");
        return new StringBuilder(letters).reverse().toString().equals(letters);
    }

    public static void main(String[] args) {
        Map<String, Long> counts = Pattern.compile("[^\\p{L}]+").splitAsStream(TEXT.toLowerCase(Locale.ROOT))
            .filter(word -> !word.isEmpty())
            .collect(Collectors.groupingBy(Function.identity(), TreeMap::new, Collectors.counting()));
        counts.entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
            .limit(4)
            .forEach(entry -> System.out.println(entry.getKey() + " " + entry.getValue()));
        System.out.println(wrap(TEXT, 30));
        System.out.println(isPalindrome("Never odd or even") + " " + isPalindrome("owl"));
        List<String> sorted = Arrays.asList("pear", "Fig", "apple", "éclair");
        sorted.sort(Comparator.comparing(String::length).thenComparing(String.CASE_INSENSITIVE_ORDER));
        System.out.println(sorted);
        System.out.println(TEXT.codePoints().filter(Character::isUpperCase).count());
    }
}
