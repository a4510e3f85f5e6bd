//: fork
#include <unistd.h>
int main() { fork(); } //!
//: vfork
#include <unistd.h>
int main() { if (vfork() == 0) _exit(0); } //!
//: macro
#include <unistd.h>
#define F fork()
int main() { F; } //!
