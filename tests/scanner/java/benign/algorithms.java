//: binary search
class A { static int find(int[] xs, int x) { int lo = 0, hi = xs.length - 1; while (lo <= hi) { int m = (lo + hi) >>> 1; if (xs[m] == x) return m; if (xs[m] < x) lo = m + 1; else hi = m - 1; } return -1; } }
//: sieve
boolean[] c = new boolean[101];
for (int i = 2; i <= 100; i++) { if (c[i]) continue; System.out.print(i + " "); for (int j = i * i; j <= 100; j += i) c[j] = true; }
//: quicksort
class Sort { static void sort(int[] a, int l, int h) { if (l >= h) return; int p = a[h], i = l; for (int j = l; j < h; j++) if (a[j] < p) { int t = a[i]; a[i++] = a[j]; a[j] = t; } a[h] = a[i]; a[i] = p; sort(a, l, i - 1); sort(a, i + 1, h); } }
//: memoised Fibonacci
import java.util.*;
import java.math.BigInteger;
class Fib { private final Map<Integer, BigInteger> memo = new HashMap<>(); BigInteger at(int n) { if (n < 2) return BigInteger.valueOf(n); BigInteger known = memo.get(n); if (known != null) return known; BigInteger r = at(n - 1).add(at(n - 2)); memo.put(n, r); return r; } }
//: breadth first
import java.util.*;
class Graph { static Set<String> bfs(Map<String, List<String>> g, String s) { Set<String> seen = new LinkedHashSet<>(List.of(s)); Deque<String> q = new ArrayDeque<>(seen); while (!q.isEmpty()) for (String n : g.getOrDefault(q.poll(), List.of())) if (seen.add(n)) q.add(n); return seen; } }
//: greatest common divisor
int gcd(int a, int b) { return b == 0 ? a : gcd(b, a % b); }
System.out.println(gcd(12, 18));
//: matrix product
double[][] a = {{1, 2}, {3, 4}}, b = {{0, 1}, {1, 0}}, r = new double[2][2];
for (int i = 0; i < 2; i++) for (int j = 0; j < 2; j++) for (int k = 0; k < 2; k++) r[i][j] += a[i][k] * b[k][j];
//: longest common subsequence
class Lcs { static int of(String a, String b) { int[][] t = new int[a.length() + 1][b.length() + 1]; for (int i = 1; i <= a.length(); i++) for (int j = 1; j <= b.length(); j++) t[i][j] = a.charAt(i - 1) == b.charAt(j - 1) ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1]); return t[a.length()][b.length()]; } }
//: permutations
import java.util.*;
class Perm { static void all(List<Integer> xs, int k) { if (k == xs.size()) { System.out.println(xs); return; } for (int i = k; i < xs.size(); i++) { Collections.swap(xs, i, k); all(xs, k + 1); Collections.swap(xs, i, k); } } }
//: shortest paths
import java.util.*;
class Dijkstra { record Edge(int to, int w) { } static int[] from(List<List<Edge>> g, int s) { int[] d = new int[g.size()]; Arrays.fill(d, Integer.MAX_VALUE); d[s] = 0; PriorityQueue<int[]> q = new PriorityQueue<>((x, y) -> x[1] - y[1]); q.add(new int[]{s, 0}); while (!q.isEmpty()) { int u = q.poll()[0]; for (Edge e : g.get(u)) if (d[u] + e.w() < d[e.to()]) { d[e.to()] = d[u] + e.w(); q.add(new int[]{e.to(), d[e.to()]}); } } return d; } }
//: queens
class Queens { static int count(int n, int row, int c, int d, int e) { if (row == n) return 1; int k = 0; for (int i = 0; i < n; i++) { int x = 1 << i, y = 1 << (row + i), z = 1 << (row - i + n); if ((c & x) == 0 && (d & y) == 0 && (e & z) == 0) k += count(n, row + 1, c | x, d | y, e | z); } return k; } }
//: bubble sort
int[] xs = {3, 1, 2};
for (int i = 0; i < xs.length; i++) for (int j = 1; j < xs.length - i; j++) if (xs[j - 1] > xs[j]) { int t = xs[j]; xs[j] = xs[j - 1]; xs[j - 1] = t; }
System.out.println(java.util.Arrays.toString(xs));
