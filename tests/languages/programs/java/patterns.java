import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Patterns {
    private static final Pattern LINE = Pattern.compile(
        "^(?<host>\\S+) \\[(?<time>[^\\]]+)] \"(?<verb>GET|POST) (?<path>[^\"?]+)(?:\\?[^\"]*)?\" (?<code>\\d{3})$");

    private static final String LOG = """
        10.0.0.1 [12:00:01] "GET /index.html" 200
        10.0.0.2 [12:00:02] "POST /login?next=/" 302
        10.0.0.1 [12:00:05] "GET /missing" 404
        nonsense
        10.0.0.3 [12:00:09] "GET /index.html?v=2" 200
        """;

    public static void main(String[] args) {
        TreeMap<String, List<String>> byPath = new TreeMap<>();
        LOG.lines().forEach(line -> {
            Matcher found = LINE.matcher(line);
            if (found.matches()) {
                byPath.computeIfAbsent(found.group("path"), key -> new ArrayList<>())
                    .add(found.group("verb") + found.group("code"));
            } else {
                System.out.println("skipped: " + line);
            }
        });
        System.out.println(byPath);

        System.out.println("2024-01-31, 1999-12-24".replaceAll("(\\d+)-(\\d+)-(\\d+)", "$3.$2.$1"));
        System.out.println(Pattern.compile("\\b\\w").matcher("title case words").replaceAll(m -> m.group().toUpperCase()));
        System.out.println(Pattern.compile("(\\w)\\1").matcher("bookkeeper").results().map(MatchResult::group).toList());
        System.out.println(String.join("|", "a1b22c333".split("(?<=\\d)(?=[a-z])")));
        System.out.println("snake_case_name".matches("[a-z]+(_[a-z]+)*") + " " + "x".matches("y"));
    }
}
