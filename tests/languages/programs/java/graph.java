import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;
import java.util.TreeSet;

/** Shortest ways, a topological order, and connected parts. */
public class Graph {
    record Edge(String to, int length) {}

    record Stop(String at, int distance) {}

    private final Map<String, List<Edge>> edges = new TreeMap<>();

    Graph link(String from, String to, int length) {
        edges.computeIfAbsent(from, key -> new ArrayList<>()).add(new Edge(to, length));
        edges.computeIfAbsent(to, key -> new ArrayList<>());
        return this;
    }

    List<String> way(String from, String to) {
        Map<String, Integer> best = new HashMap<>(Map.of(from, 0));
        Map<String, String> before = new HashMap<>();
        PriorityQueue<Stop> open = new PriorityQueue<>(Comparator.comparingInt(Stop::distance));
        open.add(new Stop(from, 0));
        while (!open.isEmpty()) {
            Stop stop = open.poll();
            if (stop.distance() > best.get(stop.at())) {
                continue;
            }
            for (Edge edge : edges.get(stop.at())) {
                int distance = stop.distance() + edge.length();
                if (distance < best.getOrDefault(edge.to(), Integer.MAX_VALUE)) {
                    best.put(edge.to(), distance);
                    before.put(edge.to(), stop.at());
                    open.add(new Stop(edge.to(), distance));
                }
            }
        }
        List<String> way = new ArrayList<>();
        for (String at = to; at != null; at = before.get(at)) {
            way.add(at);
        }
        Collections.reverse(way);
        way.add(String.valueOf(best.get(to)));
        return way;
    }

    List<String> sorted() {
        Map<String, Integer> needs = new TreeMap<>();
        edges.keySet().forEach(node -> needs.put(node, 0));
        edges.values().forEach(all -> all.forEach(edge -> needs.merge(edge.to(), 1, Integer::sum)));
        Deque<String> free = new ArrayDeque<>();
        needs.forEach((node, count) -> {
            if (count == 0) {
                free.add(node);
            }
        });
        List<String> order = new ArrayList<>();
        while (!free.isEmpty()) {
            String node = free.poll();
            order.add(node);
            for (Edge edge : edges.get(node)) {
                if (needs.merge(edge.to(), -1, Integer::sum) == 0) {
                    free.add(edge.to());
                }
            }
        }
        return order;
    }

    int reachable(String from) {
        TreeSet<String> seen = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(List.of(from));
        while (!open.isEmpty()) {
            String node = open.pop();
            if (seen.add(node)) {
                edges.get(node).forEach(edge -> open.push(edge.to()));
            }
        }
        return seen.size();
    }

    public static void main(String[] args) {
        Graph graph = new Graph().link("a", "b", 7).link("a", "c", 3).link("c", "b", 1).link("b", "d", 2)
            .link("c", "d", 8).link("e", "d", 1);
        System.out.println(graph.way("a", "d"));
        System.out.println(graph.sorted());
        System.out.println(graph.reachable("a") + " " + graph.reachable("e"));
    }
}
