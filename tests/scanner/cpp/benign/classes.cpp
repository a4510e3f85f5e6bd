//: stack
#include <vector>
template <class T> class Stack { std::vector<T> xs; public: void push(T x) { xs.push_back(x); } T pop() { T x = xs.back(); xs.pop_back(); return x; } bool empty() const { return xs.empty(); } };
//: shapes
#include <memory>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Circle : Shape { double r; explicit Circle(double r) : r(r) {} double area() const override { return 3.14159 * r * r; } };
double total(const std::vector<std::unique_ptr<Shape>>& s) { double t = 0; for (auto& x : s) t += x->area(); return t; }
//: own string
#include <cstring>
class Text { char* p; public: Text(const char* s) : p(new char[std::strlen(s) + 1]) { std::strcpy(p, s); } Text(const Text& o) : Text(o.p) {} ~Text() { delete[] p; } size_t size() const { return std::strlen(p); } };
//: operators
struct Vec { double x, y; Vec operator+(Vec o) const { return {x + o.x, y + o.y}; } bool operator==(const Vec&) const = default; };
//: account
#include <stdexcept>
class Account { long cents = 0; public: void deposit(long c) { if (c <= 0) throw std::invalid_argument("positive only"); cents += c; } long balance() const noexcept { return cents; } };
//: linked list
template <class T> struct List { struct Node { T v; Node* next; }; Node* head = nullptr; void add(T v) { head = new Node{v, head}; } ~List() { while (head) { auto* n = head->next; delete head; head = n; } } };
//: counter
#include <functional>
std::function<int()> counter() { int n = 0; return [n]() mutable { return ++n; }; }
//: variant
#include <string>
#include <variant>
using Value = std::variant<int, std::string>;
std::string show(const Value& v) { return std::visit([](auto& x) -> std::string { if constexpr (std::is_same_v<std::decay_t<decltype(x)>, int>) return std::to_string(x); else return x; }, v); }
//: singleton
struct Config { static Config& get() { static Config c; return c; } int level = 1; };
//: namespaces
namespace geometry { namespace detail { inline double sq(double x) { return x * x; } } double norm(double x, double y) { return detail::sq(x) + detail::sq(y); } }
//: enum class
enum class Color { Red, Green }; const char* name(Color c) { switch (c) { case Color::Red: return "red"; default: return "green"; } }
//: concepts
#include <concepts>
template <std::integral T> T twice(T x) { return x * 2; }
