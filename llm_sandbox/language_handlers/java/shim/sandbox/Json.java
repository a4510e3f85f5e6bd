package sandbox;

import java.util.Collection;
import java.util.Map;
import java.util.StringJoiner;

/** JSON writer. */
public final class Json {
    private Json() {}

    /** Returns maps, collections, numbers, booleans, null and text (of anything else) as JSON. */
    public static String write(Object value) {
        if (value == null || value instanceof Boolean) {
            return String.valueOf(value);
        }
        if (value instanceof Number) {
            double number = ((Number) value).doubleValue();
            return Double.isFinite(number) ? value.toString() : "null";
        }
        if (value instanceof Map<?, ?>) {
            StringJoiner members = new StringJoiner(",", "{", "}");
            ((Map<?, ?>) value).forEach(
                (key, member) -> members.add(quote(String.valueOf(key)) + ":" + write(member)));
            return members.toString();
        }
        if (value instanceof Collection<?>) {
            StringJoiner items = new StringJoiner(",", "[", "]");
            ((Collection<?>) value).forEach(item -> items.add(write(item)));
            return items.toString();
        }
        return quote(value.toString());
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c == '\u007f' || Character.isSurrogate(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
