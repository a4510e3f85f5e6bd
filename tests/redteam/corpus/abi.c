/* Calls the kernel by other doors than the 64-bit table: "int80", "x32", "number". */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words) {
    long result = -1;
    if (count < 2) return 2;
    if (!strcmp(words[1], "int80"))
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
    else
        __asm__ volatile("syscall" : "=a"(result)
                         : "a"(!strcmp(words[1], "x32") ? 0x40000000 + 39 : 5000)
                         : "rcx", "r11", "memory");
    printf("%s\n", result > 0 ? "works" : result == -ENOSYS ? "ENOSYS" : "other");
    return 0;
}
