//: unlink
#include <unistd.h>
int main() { unlink("a.txt"); } //!
//: remove
#include <cstdio>
int main() { std::remove("a.txt"); } //!
//: tree
#include <filesystem>
namespace fs = std::filesystem;
int main() { fs::remove_all("data"); } //!
//: opened namespace
#include <filesystem>
using namespace std::filesystem;
int main() { remove_all("data"); } //!
