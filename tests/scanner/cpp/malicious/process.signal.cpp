//: kill
#include <csignal>
#include <sys/types.h>
int main() { kill(1, SIGKILL); } //!
