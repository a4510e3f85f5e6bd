// expects: text/html
import java.time.LocalDate;
import java.util.List;
import sandbox.Display;

public class Orders {
    record Order(String item, int count, double price, LocalDate day) {}

    public static void main(String[] args) {
        Display.show(List.of(
            new Order("bolt & nut", 12, 0.25, LocalDate.of(2024, 3, 1)),
            new Order("<washer>", 7, 0.02, LocalDate.of(2024, 3, 2)),
            new Order("gear", 1, 12.5, null)));
    }
}
