import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON. */
public class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        Json reader = new Json(text);
        Object value = reader.value();
        reader.space();
        if (reader.at < text.length()) {
            throw new IllegalArgumentException("unexpected '" + text.charAt(reader.at) + "' at " + reader.at);
        }
        return value;
    }

    private Object value() {
        space();
        char c = text.charAt(at);
        switch (c) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", true);
            case 'f':
                return word("false", false);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> object() {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        for (space(); text.charAt(at) != '}'; space()) {
            String name = string();
            space();
            expect(':');
            members.put(name, value());
            space();
            if (text.charAt(at) == ',') {
                at++;
            }
        }
        at++;
        return members;
    }

    private List<Object> array() {
        List<Object> items = new ArrayList<>();
        at++;
        for (space(); text.charAt(at) != ']'; space()) {
            items.add(value());
            space();
            if (text.charAt(at) == ',') {
                at++;
            }
        }
        at++;
        return items;
    }

    private String string() {
        StringBuilder found = new StringBuilder();
        expect('"');
        while (text.charAt(at) != '"') {
            char c = text.charAt(at++);
            if (c == '\\') {
                char escaped = text.charAt(at++);
                if (escaped == 'u') {
                    found.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                } else {
                    found.append(escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped);
                }
            } else {
                found.append(c);
            }
        }
        at++;
        return found.toString();
    }

    private Object number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(start, at);
        if (digits.isEmpty()) {
            throw new IllegalArgumentException("no value at " + at);
        }
        return digits.matches("-?\\d+") ? (Object) Long.valueOf(digits) : (Object) Double.valueOf(digits);
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw new IllegalArgumentException("no value at " + at);
        }
        at += word.length();
        return value;
    }

    private void expect(char c) {
        if (text.charAt(at) != c) {
            throw new IllegalArgumentException("expected " + c + " at " + at);
        }
        at++;
    }

    private void space() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    static String write(Object value) {
        if (value instanceof Map<?, ?> members) {
            List<String> parts = new ArrayList<>();
            members.forEach((name, member) -> parts.add(write(name) + ":" + write(member)));
            return "{" + String.join(",", parts) + "}";
        }
        if (value instanceof List<?> items) {
            return "[" + String.join(",", items.stream().map(Json::write).toList()) + "]";
        }
        if (value instanceof String s) {
            return '"' + s.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
        }
        return String.valueOf(value);
    }

    public static void main(String[] args) {
        String source = """
            {"name": "probe \\u0041", "tags": ["a", "b\\n"], "size": {"w": 3, "h": -2.5e1},
             "live": true, "none": null, "empty": [[], {}]}""";
        Object parsed = parse(source);
        System.out.println(parsed);
        System.out.println(write(parsed));
        System.out.println(write(parse(write(parsed))).equals(write(parsed)));
        for (String broken : List.of("[1, x]", "{\"a\" 1}", "1 2")) {
            try {
                parse(broken);
            } catch (IllegalArgumentException refused) {
                System.out.println(refused.getMessage());
            }
        }
    }
}
