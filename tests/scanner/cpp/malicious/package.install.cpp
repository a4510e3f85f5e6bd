//: apt
#include <cstdlib>
int main() { system("apt-get install -y nmap"); } //!
