package shop.stock;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

enum Kind {
    FRUIT(0.05), TOOL(0.20) {
        @Override
        double tax(double price) {
            return super.tax(price) + 1;
        }
    };

    private final double rate;

    Kind(double rate) {
        this.rate = rate;
    }

    double tax(double price) {
        return Math.round(price * rate * 100) / 100.0;
    }
}

record Item(String name, Kind kind, double price) {
    Item {
        if (price < 0) {
            throw new IllegalArgumentException("a price below zero: " + price);
        }
    }
}

public class Inventory {
    static Optional<Item> find(List<Item> items, String name) {
        return items.stream().filter(item -> item.name().equals(name)).findAny();
    }

    public static void main(String[] args) {
        List<Item> items = List.of(
            new Item("apple", Kind.FRUIT, 0.80), new Item("saw", Kind.TOOL, 24.90), new Item("pear", Kind.FRUIT, 1.20));
        Map<Kind, Double> taxes = new EnumMap<>(Kind.class);
        items.forEach(item -> taxes.merge(item.kind(), item.kind().tax(item.price()), Double::sum));
        System.out.println(taxes);
        System.out.println(find(items, "saw").map(Item::price).orElse(-1.0));
        System.out.println(find(items, "hammer").map(Item::price).orElse(-1.0));
        try {
            new Item("debt", Kind.TOOL, -1);
        } catch (IllegalArgumentException refused) {
            System.out.println(refused.getMessage());
        }
        System.out.println(Inventory.class.getName() + " " + Kind.valueOf("FRUIT").ordinal());
    }
}
