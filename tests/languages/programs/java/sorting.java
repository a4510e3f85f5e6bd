import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;

/** Four ways to sort, compared with the library's. */
public class Sorting {
    static void quick(int[] items, int low, int high) {
        if (low >= high) {
            return;
        }
        int pivot = items[(low + high) >>> 1];
        int i = low;
        int j = high;
        while (i <= j) {
            while (items[i] < pivot) {
                i++;
            }
            while (items[j] > pivot) {
                j--;
            }
            if (i <= j) {
                swap(items, i++, j--);
            }
        }
        quick(items, low, j);
        quick(items, i, high);
    }

    static void merge(int[] items) {
        if (items.length < 2) {
            return;
        }
        int[] left = Arrays.copyOfRange(items, 0, items.length / 2);
        int[] right = Arrays.copyOfRange(items, items.length / 2, items.length);
        merge(left);
        merge(right);
        for (int k = 0, i = 0, j = 0; k < items.length; k++) {
            boolean first = j == right.length || i < left.length && left[i] <= right[j];
            items[k] = first ? left[i++] : right[j++];
        }
    }

    static void heap(int[] items) {
        for (int start = items.length / 2 - 1; start >= 0; start--) {
            sink(items, start, items.length);
        }
        for (int end = items.length - 1; end > 0; end--) {
            swap(items, 0, end);
            sink(items, 0, end);
        }
    }

    private static void sink(int[] items, int at, int end) {
        while (2 * at + 1 < end) {
            int child = 2 * at + 1;
            if (child + 1 < end && items[child + 1] > items[child]) {
                child++;
            }
            if (items[at] >= items[child]) {
                return;
            }
            swap(items, at, child);
            at = child;
        }
    }

    static void radix(int[] items) {
        for (int shift = 0; shift < 32; shift += 8) {
            int[] starts = new int[257];
            for (int item : items) {
                starts[(item >>> shift & 255) + 1]++;
            }
            for (int i = 0; i < 256; i++) {
                starts[i + 1] += starts[i];
            }
            int[] sorted = new int[items.length];
            for (int item : items) {
                sorted[starts[item >>> shift & 255]++] = item;
            }
            System.arraycopy(sorted, 0, items, 0, items.length);
        }
    }

    private static void swap(int[] items, int i, int j) {
        int kept = items[i];
        items[i] = items[j];
        items[j] = kept;
    }

    public static void main(String[] args) {
        Map<String, Consumer<int[]>> ways = new LinkedHashMap<>();
        ways.put("quick", items -> quick(items, 0, items.length - 1));
        ways.put("merge", Sorting::merge);
        ways.put("heap", Sorting::heap);
        ways.put("radix", Sorting::radix);
        int[] items = new Random(42).ints(5000, 0, 1_000_000).toArray();
        int[] expected = items.clone();
        Arrays.sort(expected);
        ways.forEach((name, way) -> {
            int[] copy = items.clone();
            way.accept(copy);
            System.out.println(name + " " + Arrays.equals(copy, expected));
        });
        int[] small = {5, 2, 9, 2, 0};
        heap(small);
        System.out.println(Arrays.toString(small));
    }
}
