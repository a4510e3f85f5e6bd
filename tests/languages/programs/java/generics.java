import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Consumer;

/** A balanced tree (a treap with fixed priorities) as an iterable set. */
class SortedBag<T> implements Iterable<T> {
    private static final class Node<T> {
        final T value;
        final int rank;
        Node<T> left;
        Node<T> right;

        Node(T value, int rank) {
            this.value = value;
            this.rank = rank;
        }
    }

    private final Comparator<? super T> order;
    private Node<T> root;
    private int seed = 17;
    private int size;

    SortedBag(Comparator<? super T> order) {
        this.order = order;
    }

    void add(T value) {
        seed = seed * 1103515245 + 12345;
        root = insert(root, value, seed >>> 8);
        size++;
    }

    private Node<T> insert(Node<T> node, T value, int rank) {
        if (node == null) {
            return new Node<>(value, rank);
        }
        if (order.compare(value, node.value) < 0) {
            node.left = insert(node.left, value, rank);
            return node.left.rank > node.rank ? rotateRight(node) : node;
        }
        node.right = insert(node.right, value, rank);
        return node.right.rank > node.rank ? rotateLeft(node) : node;
    }

    private Node<T> rotateRight(Node<T> node) {
        Node<T> up = node.left;
        node.left = up.right;
        up.right = node;
        return up;
    }

    private Node<T> rotateLeft(Node<T> node) {
        Node<T> up = node.right;
        node.right = up.left;
        up.left = node;
        return up;
    }

    int size() {
        return size;
    }

    @Override
    public Iterator<T> iterator() {
        Deque<Node<T>> open = new ArrayDeque<>();
        Consumer<Node<T>> descend = node -> {
            for (Node<T> n = node; n != null; n = n.left) {
                open.push(n);
            }
        };
        descend.accept(root);
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return !open.isEmpty();
            }

            @Override
            public T next() {
                if (open.isEmpty()) {
                    throw new NoSuchElementException();
                }
                Node<T> node = open.pop();
                descend.accept(node.right);
                return node.value;
            }
        };
    }
}

class Generics {
    static <T extends Comparable<? super T>> T largest(Iterable<? extends T> items) {
        T best = null;
        for (T item : items) {
            best = best == null || item.compareTo(best) > 0 ? item : best;
        }
        return best;
    }

    public static void main(String[] args) {
        SortedBag<String> words = new SortedBag<>(Comparator.comparing(String::length).thenComparing(Comparator.naturalOrder()));
        Arrays.stream("the quick brown fox jumps over the lazy dog".split(" ")).forEach(words::add);
        for (String word : words) {
            System.out.print(word + " ");
        }
        System.out.println(words.size() + " " + largest(words));

        SortedBag<Integer> numbers = new SortedBag<>(Comparator.reverseOrder());
        for (int i = 0; i < 20; i++) {
            numbers.add(i * 7 % 20);
        }
        StringBuilder line = new StringBuilder();
        numbers.forEach(n -> line.append(n).append(','));
        System.out.println(line);
    }
}
