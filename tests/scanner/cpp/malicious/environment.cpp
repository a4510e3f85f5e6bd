//: getenv
#include <cstdlib>
int main() { std::getenv("HOME"); } //!
//: environ
#include <unistd.h>
int main() { char **e = environ; } //!
