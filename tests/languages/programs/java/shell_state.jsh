// Pieces for a shell: declarations, statements and expressions, one after the other.
import java.text.Normalizer;

record Point(int x, int y) {
    Point plus(Point other) {
        return new Point(x + other.x, y + other.y);
    }
}

int steps = 0;

Point walk(String way) {
    Point at = new Point(0, 0);
    for (char c : way.toCharArray()) {
        at = at.plus(move(c));
        steps++;
    }
    return at;
}

// Used before it is declared.
Point move(char c) {
    return switch (c) {
        case 'N' -> new Point(0, 1);
        case 'S' -> new Point(0, -1);
        case 'E' -> new Point(1, 0);
        case 'W' -> new Point(-1, 0);
        default -> throw new IllegalArgumentException("no direction: " + c);
    };
}

System.out.println(walk("NNESW") + " in " + steps);
try {
    walk("NX");
} catch (IllegalArgumentException refused) {
    System.out.println(refused.getMessage() + " after " + steps);
}

var squares = IntStream.rangeClosed(1, 5).mapToObj(i -> i * i).collect(Collectors.toList());
squares.replaceAll(i -> -i);
System.out.println(squares);

String plain = Normalizer.normalize("crème brûlée", Normalizer.Form.NFD).replaceAll("\\p{M}", "");
System.out.println(plain);

int total = 0;
for (int i : squares) {
    if (i % 2 == 0) {
        total += i;
    } else {
        total -= i;
    }
}
System.out.println(total);
