import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Reads comma-separated values with quotes, and sums them up by group. */
public class Csv {
    private static final String DATA = """
        city,product,amount,price
        Oslo,"Bolt, small",12,0.25
        Rome,Nut,7,0.10
        Oslo,Washer,100,0.02
        Rome,"Bolt ""XL\""",3,1.75
        Kyiv,Nut,41,0.11
        """;

    record Sale(String city, String product, int amount, double price) {
        double total() {
            return amount * price;
        }
    }

    static List<String> split(String line) {
        List<String> cells = new ArrayList<>();
        StringBuilder cell = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                cell.append('"');
                i++;
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                cells.add(cell.toString());
                cell.setLength(0);
            } else {
                cell.append(c);
            }
        }
        cells.add(cell.toString());
        return cells;
    }

    public static void main(String[] args) {
        List<Sale> sales = DATA.lines().skip(1).map(Csv::split)
            .map(c -> new Sale(c.get(0), c.get(1), Integer.parseInt(c.get(2)), Double.parseDouble(c.get(3))))
            .toList();
        sales.forEach(System.out::println);
        Map<String, Double> totals = sales.stream().collect(
            Collectors.groupingBy(Sale::city, TreeMap::new, Collectors.summingDouble(Sale::total)));
        totals.forEach((city, total) -> System.out.printf(Locale.ROOT, "%-5s %6.2f%n", city, total));
        Sale best = sales.stream().max(Comparator.comparingDouble(Sale::total)).orElseThrow();
        System.out.println("best: " + best.product());
    }
}
