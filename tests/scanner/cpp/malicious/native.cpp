//: assembler
int main() { asm("nop"); } //!
//: volatile assembler
int main() { __asm__ volatile("nop"); } //!
//: executable memory
#include <sys/mman.h>
int main() { mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); } //!
//: memory made executable
#include <sys/mman.h>
int main() { mprotect(nullptr, 4096, PROT_EXEC); } //!
//: buffer as function
unsigned char code[] = {0xc3};
int main() { ((void (*)())code)(); } //!
//: buffer as function, C++ cast
unsigned char code[] = {0xc3};
int main() { reinterpret_cast<void (*)()>(code)(); } //!
//: buffer as named function type
typedef void (*Fn)();
char code[] = "\xc3";
int main() { Fn f = (Fn)code; f(); } //!
//: library
#include <dlfcn.h>
int main() { dlopen("./x.so", RTLD_NOW); } //!
//: symbol
#include <dlfcn.h>
int main() { dlsym(RTLD_DEFAULT, "system"); } //!
//: system call
#include <unistd.h>
#include <sys/syscall.h>
int main() { syscall(SYS_getpid); } //!
//: trace
#include <sys/ptrace.h>
int main() { ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); } //!
//: namespaces
#include <sched.h>
int main() { unshare(CLONE_NEWUSER); } //!
//: memory file
#include <sys/mman.h>
int main() { memfd_create("x", 0); } //!
