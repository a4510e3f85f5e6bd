//: chmod
#include <sys/stat.h>
int main() { chmod("x", 04755); } //!
//: user
#include <unistd.h>
int main() { setuid(0); } //!
