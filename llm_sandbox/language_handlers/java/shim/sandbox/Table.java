package sandbox;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.math.BigInteger;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.temporal.Temporal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Table of uniform rows: a collection of maps or of records. */
final class Table {
    private static final int MOST_ROWS = 100;
    private static final int MOST_COLUMNS = 50;
    private static final int LONGEST = 500;

    private final List<String> names;
    private final List<List<Object>> rows;
    private final int count;

    private Table(List<String> names, List<List<Object>> rows, int count) {
        this.names = names;
        this.rows = rows;
        this.count = count;
    }

    /** Returns a value as a table; null when it is none. */
    static Table of(Object value) {
        Collection<?> items = items(value);
        if (items == null || items.isEmpty()) {
            return null;
        }
        Map<String, Boolean> names = new LinkedHashMap<>();
        List<Map<String, Object>> found = new ArrayList<>();
        for (Object item : items) {
            Map<String, Object> row = row(item);
            if (row == null || row.isEmpty()) {
                return null;
            }
            if (found.size() < MOST_ROWS) {
                row.keySet().forEach(name -> names.put(name, true));
                found.add(row);
            }
        }
        List<String> columns = new ArrayList<>(names.keySet());
        if (columns.size() > MOST_COLUMNS) {
            return null;
        }
        List<List<Object>> rows = new ArrayList<>();
        for (Map<String, Object> row : found) {
            List<Object> cells = new ArrayList<>();
            columns.forEach(name -> cells.add(row.get(name)));
            rows.add(cells);
        }
        return new Table(columns, rows, items.size());
    }

    private static Collection<?> items(Object value) {
        if (value instanceof Collection<?>) {
            return (Collection<?>) value;
        }
        return value instanceof Object[] ? List.of((Object[]) value) : null;
    }

    private static Map<String, Object> row(Object item) {
        Map<String, Object> row = new LinkedHashMap<>();
        if (item instanceof Map<?, ?>) {
            ((Map<?, ?>) item).forEach((name, cell) -> row.put(String.valueOf(name), cell));
            return row;
        }
        if (item == null || !item.getClass().isRecord()) {
            return null;
        }
        for (RecordComponent component : item.getClass().getRecordComponents()) {
            try {
                Method accessor = component.getAccessor();
                accessor.setAccessible(true);
                row.put(component.getName(), accessor.invoke(item));
            } catch (IllegalAccessException | InvocationTargetException hidden) {
                return null;
            }
        }
        return row;
    }

    /** Returns the table as HTML. */
    String html() {
        StringBuilder html = new StringBuilder("<table><thead><tr>");
        names.forEach(name -> html.append("<th>").append(escape(name)).append("</th>"));
        html.append("</tr></thead><tbody>");
        for (List<Object> row : rows) {
            html.append("<tr>");
            row.forEach(cell -> html.append("<td>").append(escape(text(cell))).append("</td>"));
            html.append("</tr>");
        }
        html.append("</tbody></table>");
        if (rows.size() < count) {
            html.append("<p>").append(count).append(" rows</p>");
        }
        return html.toString();
    }

    /** Returns the table as aligned text. */
    String plain() {
        List<List<String>> lines = new ArrayList<>();
        lines.add(names);
        rows.forEach(row -> lines.add(row.stream().map(Table::text).toList()));
        int[] widths = new int[names.size()];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        StringBuilder plain = new StringBuilder();
        for (List<String> line : lines) {
            StringBuilder cells = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                cells.append(line.get(i)).append(" ".repeat(widths[i] - line.get(i).length() + 2));
            }
            plain.append(cells.toString().stripTrailing()).append('\n');
        }
        return rows.size() < count ? plain + "(" + count + " rows)\n" : plain.toString();
    }

    /** Returns the table as the record that its reader outside understands. */
    String record() {
        List<Object> columns = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            Object sample = sample(i);
            columns.add(Map.of(
                "name", names.get(i),
                "type", type(sample),
                "dtype", sample == null ? "" : sample.getClass().getSimpleName(),
                "role", "value"));
        }
        List<Object> cells = new ArrayList<>();
        rows.forEach(row -> cells.add(row.stream().map(Table::plainCell).toList()));
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("version", 1);
        record.put("library", "java");
        record.put("name", null);
        record.put("columns", columns);
        record.put("shape", List.of(count, names.size()));
        record.put("head", cells);
        record.put("tail", List.of());
        record.put("handle", "");
        return Json.write(record);
    }

    private Object sample(int column) {
        for (List<Object> row : rows) {
            if (row.get(column) != null) {
                return row.get(column);
            }
        }
        return null;
    }

    private static String type(Object sample) {
        if (sample instanceof Integer || sample instanceof Long || sample instanceof Short
                || sample instanceof Byte || sample instanceof BigInteger) {
            return "integer";
        }
        if (sample instanceof Number) {
            return "number";
        }
        if (sample instanceof Boolean) {
            return "boolean";
        }
        if (sample instanceof CharSequence || sample instanceof Character
                || sample instanceof Enum<?>) {
            return "string";
        }
        if (sample instanceof LocalDate) {
            return "date";
        }
        if (sample instanceof LocalTime) {
            return "time";
        }
        if (sample instanceof Temporal) {
            return "datetime";
        }
        return sample instanceof Collection<?> ? "list" : "other";
    }

    private static Object plainCell(Object cell) {
        boolean plain = cell == null || cell instanceof Number || cell instanceof Boolean;
        return plain ? cell : text(cell);
    }

    private static String text(Object cell) {
        if (cell != null && cell.getClass().isArray()) {
            return cell.getClass().getComponentType() + "[" + Array.getLength(cell) + "]";
        }
        String text = String.valueOf(cell);
        return text.length() > LONGEST ? text.substring(0, LONGEST - 1) + "…" : text;
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
            .replace("\"", "&quot;");
    }
}
