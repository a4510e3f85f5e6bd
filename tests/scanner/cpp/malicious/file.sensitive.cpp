//: shadow
#include <fstream>
int main() { std::ifstream f("/etc/shadow"); } //!
//: pieces
const char *p = "/etc/" "shadow"; //!
//: sum
#include <string>
std::string p = std::string("/etc/") + "shadow"; //!
//: raw
const char *p = R"(/root/.ssh/id_rsa)"; //!
//: escapes
const char *p = "\x2f\x65\x74\x63\x2fshadow"; //!
//: characters
char p[] = {'/', 'e', 't', 'c', '/', 's', 'h', 'a', 'd', 'o', 'w', 0}; //!
//: included
#include "/etc/shadow" //!
