import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

sealed interface Shape permits Circle, Box, Group {}

record Circle(double radius) implements Shape {}

record Box(double width, double height) implements Shape {
    Box(double side) {
        this(side, side);
    }
}

record Group(List<Shape> parts) implements Shape {
    static Group of(Shape... parts) {
        return new Group(List.of(parts));
    }
}

interface Visitor<R> {
    R circle(Circle circle);

    R box(Box box);

    R group(Group group);

    default R visit(Shape shape) {
        if (shape instanceof Circle c) {
            return circle(c);
        }
        return shape instanceof Box b ? box(b) : group((Group) shape);
    }
}

public class Shapes {
    static final class Area implements Visitor<Double> {
        @Override
        public Double circle(Circle circle) {
            return Math.PI * circle.radius() * circle.radius();
        }

        @Override
        public Double box(Box box) {
            return box.width() * box.height();
        }

        @Override
        public Double group(Group group) {
            return group.parts().stream().mapToDouble(this::visit).sum();
        }
    }

    public static void main(String[] args) {
        Shape drawing = Group.of(new Circle(1), new Box(2), Group.of(new Box(1, 3), new Circle(0.5)));
        System.out.println(drawing);
        System.out.printf(Locale.ROOT, "%.4f%n", new Area().visit(drawing));
        Visitor<String> names = new Visitor<>() {
            @Override
            public String circle(Circle circle) {
                return "o";
            }

            @Override
            public String box(Box box) {
                return box.width() == box.height() ? "square" : "box";
            }

            @Override
            public String group(Group group) {
                return group.parts().stream().map(this::visit).collect(Collectors.joining(",", "[", "]"));
            }
        };
        System.out.println(names.visit(drawing));
        System.out.println(new Box(2).equals(new Box(2, 2)) + " " + new Circle(1).hashCode());
    }
}
