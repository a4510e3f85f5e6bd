//: binary search
#include <vector>
int find(const std::vector<int>& v, int x) { int lo = 0, hi = (int)v.size() - 1; while (lo <= hi) { int m = (lo + hi) / 2; if (v[m] == x) return m; if (v[m] < x) lo = m + 1; else hi = m - 1; } return -1; }
//: sieve
#include <iostream>
#include <vector>
int main() { std::vector<bool> c(101); for (int i = 2; i <= 100; i++) { if (c[i]) continue; std::cout << i << ' '; for (int j = i * i; j <= 100; j += i) c[j] = true; } }
//: quicksort
#include <utility>
template <class It> void sort(It a, It b) { if (b - a < 2) return; auto p = *a; It m = a; for (It i = a + 1; i != b; ++i) if (*i < p) std::swap(*++m, *i); std::swap(*a, *m); sort(a, m); sort(m + 1, b); }
//: memoised Fibonacci
#include <unordered_map>
std::unordered_map<int, long long> memo;
long long fib(int n) { if (n < 2) return n; auto it = memo.find(n); return it != memo.end() ? it->second : memo[n] = fib(n - 1) + fib(n - 2); }
//: shortest paths
#include <queue>
#include <vector>
using P = std::pair<int, int>;
std::vector<int> dijkstra(const std::vector<std::vector<P>>& g, int s) { std::vector<int> d(g.size(), 1 << 30); std::priority_queue<P, std::vector<P>, std::greater<>> q; q.push({d[s] = 0, s}); while (!q.empty()) { auto [w, u] = q.top(); q.pop(); for (auto [v, c] : g[u]) if (w + c < d[v]) q.push({d[v] = w + c, v}); } return d; }
//: breadth first
#include <deque>
#include <set>
#include <map>
#include <string>
#include <vector>
std::set<std::string> bfs(std::map<std::string, std::vector<std::string>> g, std::string s) { std::set<std::string> seen{s}; std::deque<std::string> q{s}; while (!q.empty()) { auto u = q.front(); q.pop_front(); for (auto& v : g[u]) if (seen.insert(v).second) q.push_back(v); } return seen; }
//: matrix
#include <array>
template <int N> struct Matrix { std::array<std::array<double, N>, N> a{}; Matrix operator*(const Matrix& o) const { Matrix r; for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) r.a[i][j] += a[i][k] * o.a[k][j]; return r; } };
//: greatest common divisor
#include <numeric>
constexpr int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }
static_assert(gcd(12, 18) == 6);
//: longest common subsequence
#include <algorithm>
#include <string>
#include <vector>
int lcs(const std::string& a, const std::string& b) { std::vector<std::vector<int>> t(a.size() + 1, std::vector<int>(b.size() + 1)); for (size_t i = 1; i <= a.size(); i++) for (size_t j = 1; j <= b.size(); j++) t[i][j] = a[i - 1] == b[j - 1] ? t[i - 1][j - 1] + 1 : std::max(t[i - 1][j], t[i][j - 1]); return t[a.size()][b.size()]; }
//: permutations
#include <algorithm>
#include <iostream>
#include <string>
int main() { std::string s = "abc"; do std::cout << s << '\n'; while (std::next_permutation(s.begin(), s.end())); }
//: erase and remove
#include <algorithm>
#include <vector>
void clean(std::vector<int>& v) { v.erase(std::remove(v.begin(), v.end(), 0), v.end()); v.erase(std::unique(v.begin(), v.end()), v.end()); }
//: qsort
#include <cstdlib>
int compare(const int* a, const int* b) { return *a - *b; }
int main() { int a[] = {3, 1, 2}; qsort(a, 3, sizeof *a, (int (*)(const void*, const void*))compare); }
//: queens
#include <cstdlib>
int count(int n, int row, int* at) { if (row == n) return 1; int k = 0; for (int c = 0; c < n; c++) { bool ok = true; for (int r = 0; r < row; r++) ok = ok && at[r] != c && std::abs(at[r] - c) != row - r; if (ok) { at[row] = c; k += count(n, row + 1, at); } } return k; }
//: union find
#include <numeric>
#include <vector>
struct Sets { std::vector<int> p; explicit Sets(int n) : p(n) { std::iota(p.begin(), p.end(), 0); } int find(int x) { return p[x] == x ? x : p[x] = find(p[x]); } void join(int a, int b) { p[find(a)] = find(b); } };
