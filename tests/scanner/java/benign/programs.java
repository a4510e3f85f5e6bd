//: lambda
java.util.function.Function<Integer, Integer> twice = x -> x * 2;
System.out.println(twice.andThen(x -> x + 1).apply(3));
//: completable
java.util.concurrent.CompletableFuture<Integer> f = java.util.concurrent.CompletableFuture.supplyAsync(() -> 42);
System.out.println(f.get());
//: executor
var pool = java.util.concurrent.Executors.newFixedThreadPool(2);
pool.submit(() -> System.out.println("x"));
pool.shutdown();
//: exceptions
try { Object o = null; o.toString(); } catch (NullPointerException | IllegalStateException e) { System.err.println(e.getMessage()); } finally { System.out.println("done"); }
//: annotation
@interface Info { String value() default "x"; }
@Info("a") class T { @Override public String toString() { return "T"; } }
//: varargs
int sum(int... xs) { int s = 0; for (int x : xs) s += x; return s; }
System.out.println(sum(1, 2, 3));
//: big numbers
java.math.BigDecimal d = new java.math.BigDecimal("0.1").add(new java.math.BigDecimal("0.2"));
System.out.println(d);
//: bits
int x = 0b1010 ^ 0x0F;
System.out.println(Integer.bitCount(x) + (x >>> 1));
//: random
java.util.Random r = new java.util.Random(42);
System.out.println(r.nextInt(10) + Math.round(r.nextGaussian()));
