var done = new CountDownLatch(3);
var seen = new ConcurrentSkipListSet<String>();
for (String name : List.of("one", "two", "three")) {
    new Thread(() -> {
        seen.add(name.toUpperCase());
        done.countDown();
    }).start();
}
done.await();
System.out.println(seen);

var pool = Executors.newFixedThreadPool(2);
Callable<Integer> slow = () -> {
    Thread.sleep(20);
    return 21;
};
var futures = pool.invokeAll(List.of(slow, slow));
int sum = 0;
for (var future : futures) {
    sum += future.get();
}
pool.shutdown();
System.out.println(sum + " " + pool.awaitTermination(5, TimeUnit.SECONDS));
