import java.util.LinkedHashMap;
import java.util.Map;

/** A cache that forgets what was used least lately, and one that counts. */
public class Cache<K, V> extends LinkedHashMap<K, V> {
    private final int limit;
    private int misses;

    Cache(int limit) {
        super(16, 0.75f, true);
        this.limit = limit;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > limit;
    }

    V fetch(K key, java.util.function.Function<K, V> load) {
        V found = get(key);
        if (found == null) {
            misses++;
            found = load.apply(key);
            put(key, found);
        }
        return found;
    }

    public static void main(String... args) {
        Cache<Integer, String> cache = new Cache<>(3);
        for (int key : new int[] {1, 2, 3, 1, 4, 2, 1, 5}) {
            cache.fetch(key, k -> "value " + k);
        }
        System.out.println(cache.keySet() + " misses " + cache.misses);
        int hits = 0;
        for (int i = 0; i < 100; i++) {
            hits += cache.containsKey(i % 7) ? 1 : 0;
        }
        System.out.println(hits);
    }
}
