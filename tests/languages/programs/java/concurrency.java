import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class Concurrency {
    private static final int END = -1;

    static long produceAndConsume() throws InterruptedException {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(4);
        AtomicLong sum = new AtomicLong();
        Thread consumer = new Thread(() -> {
            try {
                for (int item = queue.take(); item != END; item = queue.take()) {
                    sum.addAndGet(item);
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        consumer.start();
        for (int i = 1; i <= 1000; i++) {
            queue.put(i);
        }
        queue.put(END);
        consumer.join();
        return sum.get();
    }

    static int primesBelow(int limit) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try {
            List<Future<Long>> parts = IntStream.range(0, 8)
                .mapToObj(part -> pool.submit(() -> IntStream.range(2, limit)
                    .filter(n -> n % 8 == part)
                    .filter(n -> IntStream.rangeClosed(2, (int) Math.sqrt(n)).noneMatch(d -> n % d == 0))
                    .count()))
                .collect(Collectors.toList());
            int total = 0;
            for (Future<Long> part : parts) {
                total += part.get();
            }
            return total;
        } finally {
            pool.shutdown();
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("sum: " + produceAndConsume());
        System.out.println("primes: " + primesBelow(20_000));

        ConcurrentHashMap<Integer, Integer> counts = new ConcurrentHashMap<>();
        IntStream.range(0, 10_000).parallel().forEach(i -> counts.merge(i % 3, 1, Integer::sum));
        System.out.println("counts: " + counts);

        CompletableFuture<String> greeting = CompletableFuture.supplyAsync(() -> "hello")
            .thenCombine(CompletableFuture.supplyAsync(() -> "world"), (a, b) -> a + " " + b)
            .thenApply(String::toUpperCase);
        System.out.println(greeting.get());

        CompletableFuture<Integer> failing = CompletableFuture.supplyAsync(() -> Integer.parseInt("x"));
        System.out.println(failing.handle((value, error) -> error.getCause().getMessage()).get());
    }
}
