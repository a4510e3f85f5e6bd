//: stream
#include <fstream>
int main() { std::ofstream f("/usr/bin/x"); } //!
//: file
#include <cstdio>
int main() { fopen("/usr/lib/x", "wb"); } //!
//: descriptor
#include <fcntl.h>
int main() { open("/opt/x", O_WRONLY | O_CREAT, 0644); } //!
//: macro for the path
#include <cstdio>
#define P "/usr/lib/x"
int main() { fopen(P, "w"); } //!
