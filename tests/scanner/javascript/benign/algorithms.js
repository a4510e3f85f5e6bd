//: binary search
function search(xs, x) {
  let lo = 0, hi = xs.length - 1;
  while (lo <= hi) {
    const mid = (lo + hi) >> 1;
    if (xs[mid] === x) return mid;
    if (xs[mid] < x) lo = mid + 1; else hi = mid - 1;
  }
  return -1;
}
console.log(search([1, 3, 5, 7], 5));
//: quicksort
const sort = (xs) => xs.length < 2 ? xs : [
  ...sort(xs.slice(1).filter((x) => x < xs[0])), xs[0],
  ...sort(xs.slice(1).filter((x) => x >= xs[0])),
];
console.log(sort([3, 1, 2]).join(', '));
//: sieve
const n = 100, composite = new Array(n + 1).fill(false), primes = [];
for (let i = 2; i <= n; i++) {
  if (composite[i]) continue;
  primes.push(i);
  for (let j = i * i; j <= n; j += i) composite[j] = true;
}
console.log(primes);
//: memoised Fibonacci
const memo = new Map();
function fib(n) {
  if (n < 2) return BigInt(n);
  if (!memo.has(n)) memo.set(n, fib(n - 1) + fib(n - 2));
  return memo.get(n);
}
console.log(String(fib(90)));
//: breadth first
function bfs(graph, start) {
  const seen = new Set([start]), queue = [start];
  while (queue.length) for (const next of graph[queue.shift()] ?? []) {
    if (!seen.has(next)) { seen.add(next); queue.push(next); }
  }
  return [...seen];
}
console.log(bfs({ a: ['b', 'c'], b: ['d'] }, 'a'));
//: shortest paths
function dijkstra(g, s) {
  const dist = { [s]: 0 }, open = new Set([s]);
  while (open.size) {
    let u; for (const v of open) if (u === undefined || dist[v] < dist[u]) u = v;
    open.delete(u);
    for (const [v, w] of Object.entries(g[u] || {})) {
      const d = dist[u] + w;
      if (!(v in dist) || d < dist[v]) { dist[v] = d; open.add(v); }
    }
  }
  return dist;
}
console.log(dijkstra({ a: { b: 2 }, b: { c: 1 } }, 'a'));
//: matrix product
const mul = (a, b) => a.map((r) => b[0].map((_, j) => r.reduce((s, x, k) => s + x * b[k][j], 0)));
console.log(mul([[1, 2], [3, 4]], [[0, 1], [1, 0]]));
//: longest common subsequence
function lcs(a, b) {
  const t = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) {
    t[i][j] = a[i - 1] === b[j - 1] ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1]);
  }
  return t[a.length][b.length];
}
console.log(lcs('process', 'progress'));
//: permutations
function* permute(xs) {
  if (xs.length < 2) { yield xs; return; }
  for (let i = 0; i < xs.length; i++) for (const rest of permute([...xs.slice(0, i), ...xs.slice(i + 1)])) yield [xs[i], ...rest];
}
console.log([...permute([1, 2, 3])].length);
//: Euclid
const gcd = (a, b) => (b ? gcd(b, a % b) : a);
console.log(gcd(12, 18), [4, 6, 8].reduce((x, y) => (x * y) / gcd(x, y)));
//: simulated annealing
let seed = 42;
const rand = () => (seed = (seed * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32;
let x = 0, best = Infinity;
for (let t = 1; t > 1e-3; t *= 0.99) { const y = x + rand() - 0.5; if (y * y < best) { best = y * y; x = y; } }
console.log(x.toFixed(3));
//: Game of Life
const step = (cells) => cells.map((row, y) => row.map((c, x) => {
  let n = 0;
  for (const dy of [-1, 0, 1]) for (const dx of [-1, 0, 1]) if (dx || dy) n += cells[y + dy]?.[x + dx] ?? 0;
  return +(n === 3 || (c && n === 2));
}));
console.log(step([[0, 1, 0], [0, 1, 0], [0, 1, 0]]));
