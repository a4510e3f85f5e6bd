import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** The game of life on a board without edges. */
public class Life {
    record Cell(int row, int column) {}

    static Set<Cell> next(Set<Cell> live) {
        Map<Cell, Integer> neighbours = new HashMap<>();
        for (Cell cell : live) {
            for (int row = -1; row <= 1; row++) {
                for (int column = -1; column <= 1; column++) {
                    if (row != 0 || column != 0) {
                        neighbours.merge(new Cell(cell.row() + row, cell.column() + column), 1, Integer::sum);
                    }
                }
            }
        }
        Set<Cell> born = new HashSet<>();
        neighbours.forEach((cell, count) -> {
            if (count == 3 || count == 2 && live.contains(cell)) {
                born.add(cell);
            }
        });
        return born;
    }

    static String draw(Set<Cell> live, int size) {
        StringBuilder picture = new StringBuilder();
        for (int row = 0; row < size; row++) {
            for (int column = 0; column < size; column++) {
                picture.append(live.contains(new Cell(row, column)) ? '#' : '.');
            }
            picture.append('\n');
        }
        return picture.toString();
    }

    public static void main(String[] args) {
        Set<Cell> glider = Set.of(new Cell(0, 1), new Cell(1, 2), new Cell(2, 0), new Cell(2, 1), new Cell(2, 2));
        System.out.println(draw(glider, 6));
        for (int i = 0; i < 8; i++) {
            glider = next(glider);
        }
        System.out.print(draw(glider, 6));
    }
}
