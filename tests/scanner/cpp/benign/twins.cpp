//: methods named like functions
struct Db { int exec(const char* q) { return *q; } int system() { return 1; } void fork() {} int kill(int x) { return x; } };
int main() { Db d; d.exec("SELECT 1"); d.fork(); return d.system() + d.kill(1); }
//: own function in a namespace
namespace my { int system(const char* s) { return *s; } int socket(int x) { return x; } }
int main() { return my::system("ls") + my::socket(2); }
//: variables named like functions
int main() { int system = 1, socket = 2, fork = 3; return system + socket + fork; }
//: table of own functions
int add(int a, int b) { return a + b; }
int sub(int a, int b) { return a - b; }
typedef int (*Op)(int, int);
int main() { Op ops[] = {add, sub}; return ops[1](3, 2); }
//: macros of harmless names
#include <cmath>
#define ROOT sqrt
#define CAT(a, b) a##b
#define SQUARE(x) ((x) * (x))
int main() { return (int)ROOT(4.0) + (int)CAT(fl, oor)(2.5) + SQUARE(3); }
//: std::bind and connect
#include <functional>
struct Signal { void connect(std::function<void()> f) { f(); } void listen(int) {} void send(int) {} };
int twice(int x) { return 2 * x; }
int main() { auto f = std::bind(twice, 2); Signal s; s.connect([] {}); s.listen(1); s.send(f()); }
//: splices
#include <cstdio>
int main() { pri\
ntf("%d", 1); }
//: threads
#include <mutex>
#include <thread>
std::mutex m; int n = 0;
void work() { std::lock_guard<std::mutex> l(m); ++n; }
int main() { std::thread a(work), b(work); a.join(); b.join(); }
//: pointer to function
double half(double x) { return x / 2; }
int main() { double (*f)(double) = half; return (int)f(4); }
//: casts of data
#include <cstdint>
uint32_t word(const char* p) { return *reinterpret_cast<const uint32_t*>(p); }
int whole(double x) { return static_cast<int>(x) + (int)(x * 2); }
//: exits and signals handled
#include <csignal>
#include <cstdlib>
volatile std::sig_atomic_t stop = 0;
void handler(int) { stop = 1; }
int main() { std::signal(SIGINT, handler); std::atexit([] {}); std::exit(0); }
//: time and random
#include <chrono>
#include <random>
int main() { std::mt19937 g(42); std::uniform_int_distribution<int> d(1, 6); auto t = std::chrono::steady_clock::now(); return d(g) + (int)t.time_since_epoch().count(); }
//: null function
typedef void (*Fn)();
int main() { Fn f = (Fn)0; return f == nullptr; }
//: own remove of two
#include <map>
#include <string>
struct Cache { std::map<std::string, int> m; void remove(const std::string& k) { m.erase(k); } void unlink() {} void open(const char*) {} };
int main() { Cache c; c.remove("a"); c.unlink(); c.open("/etc/x"); }
//: percent and brackets
#include <cstdio>
int main() { int a[3] = {1, 2, 3}; std::printf("<%d> %%: %d\n", a[0] % 2, a[1]); }
//: futures
#include <future>
int slow() { return 1; }
int main() { return std::async(std::launch::async, slow).get(); }
