//: by name
#include <cstdlib>
int main() { system("id"); } //!
//: qualified
#include <cstdlib>
int main() { std::system("id"); } //!
//: global scope
#include <cstdlib>
int main() { ::system("id"); } //!
//: using
#include <cstdlib>
using std::system;
int main() { system("id"); } //!
//: pipe
#include <cstdio>
int main() { FILE *p = popen("id", "r"); } //!
//: exec
#include <unistd.h>
int main() { execl("/bin/sh", "sh", "-c", "id", (char *)0); } //!
//: execve
#include <unistd.h>
int main() { char *a[] = {nullptr}; execve("/bin/id", a, a); } //!
//: spawn
#include <spawn.h>
int main() { posix_spawn(nullptr, "/bin/id", nullptr, nullptr, nullptr, nullptr); } //!
//: variable
#include <cstdlib>
int main() { auto f = system; return f("id"); } //!
//: address
#include <cstdlib>
int main() { auto f = &::system; return (*f)("id"); } //!
//: typed pointer
#include <cstdlib>
int main() {
  int (*f)(const char *) = system;
  return f("id"); //!
}
//: type of pointers
#include <cstdlib>
typedef int (*Run)(const char *);
int main() {
  Run r = &std::system;
  return r("id"); //!
}
//: table
#include <cstdlib>
using Run = int (*)(const char *);
int main() {
  Run table[] = {nullptr, system};
  return table[1]("id"); //!
}
//: field
#include <cstdlib>
struct Tool { int (*run)(const char *); };
int main() {
  Tool t;
  t.run = system;
  return t.run("id"); //!
}
//: named field
#include <cstdlib>
struct Tool { int (*run)(const char *); };
int call(int (*f)(const char *)) { return f("id"); } //!
int main() { return call(std::system); }
//: reference
#include <cstdlib>
int main() { auto &f = system; return f("id"); } //!
//: macro
#include <cstdlib>
#define RUN system
int main() { return RUN("id"); } //!
//: macro with argument
#include <cstdlib>
#define RUN(x) system(x)
int main() { return RUN("id"); } //!
//: macro that pastes
#include <cstdlib>
#define CAT(a, b) a##b
int main() { return CAT(sys, tem)("id"); } //!
//: macro of statements
#include <cstdlib>
#define GO system("id")
int main() { GO; } //!
//: macro of macros
#include <cstdlib>
#define A system
#define B A
int main() { return B("id"); } //!
//: spliced line @2
#include <cstdlib>
int main() { return sys\
tem("id"); }
//: digraphs
%:include <cstdlib>
int main() <% return system("id"); %> //!
//: symbol by name
#include <dlfcn.h>
int main() {
  auto f = (int (*)(const char *))dlsym(nullptr, "system");
  return f("id"); //!
}
//: thread
#include <cstdlib>
#include <thread>
int main() { std::thread t(system, "id"); t.join(); } //!
//: async
#include <cstdlib>
#include <future>
int main() { auto f = std::async(std::system, "id"); return f.get(); } //!
//: function object
#include <cstdlib>
#include <functional>
int main() { std::function<int(const char *)> f = system; return f("id"); } //!
//: lambda
#include <cstdlib>
int main() { auto f = [](const char *c) { return system(c); }; return f("id"); } //!
//: built text
#include <cstdlib>
#include <string>
int main() { std::string c = "i"; c += "d"; return system(c.c_str()); } //!
//: boost
#include <boost/process.hpp>
namespace bp = boost::process;
int main() { bp::child c("id"); } //!
//: own overload hides nothing
#include <cstdlib>
void system(int) {}
int main() { system("id"); } //!
//: own method hides nothing
#include <cstdlib>
struct Q { int system(int x) { return x; } };
int main() { return system("id"); } //!
//: local declaration
extern "C" int system(const char *);
int main() { return system("id"); } //!
//: choice
#include <cstdlib>
int none(const char *) { return 0; }
int main(int n, char **) { auto f = n > 1 ? none : system; return f("id"); } //!
