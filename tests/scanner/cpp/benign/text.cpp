//: word counts
#include <iostream>
#include <map>
#include <sstream>
int main() { std::map<std::string, int> n; std::istringstream in("the cat the dog"); for (std::string w; in >> w;) ++n[w]; for (auto& [w, k] : n) std::cout << w << ' ' << k << '\n'; }
//: palindromes
#include <algorithm>
#include <cctype>
#include <string>
bool palindrome(std::string s) { s.erase(std::remove_if(s.begin(), s.end(), [](unsigned char c) { return !std::isalpha(c); }), s.end()); return std::equal(s.begin(), s.end(), s.rbegin()); }
//: Caesar
#include <string>
std::string shift(std::string s, int k) { for (char& c : s) if (c >= 'a' && c <= 'z') c = 'a' + (c - 'a' + k) % 26; return s; }
//: printing
#include <cstdio>
int main() { std::printf("%-10s|%5.2f|%d%%\n", "name", 3.14, 50); }
//: expressions
#include <regex>
#include <string>
bool match(const std::string& s) { std::smatch m; return std::regex_search(s, m, std::regex(R"((\d+)-(\d+))")); }
//: splitting
#include <sstream>
#include <string>
#include <vector>
std::vector<std::string> split(const std::string& s, char by) { std::vector<std::string> r; std::stringstream in(s); for (std::string p; std::getline(in, p, by);) r.push_back(p); return r; }
//: talk of commands
#include <iostream>
int main() { std::cout << "call system(\"ls\") or fork(); never rm -rf" << std::endl; /* system("id") */ }
//: numbers
#include <string>
int sum(const std::string& a, const std::string& b) { return std::stoi(a) + std::stoi(b, nullptr, 16); }
//: joined constants
#include <iostream>
const char* text = "hello " "world" R"(!)";
int main() { std::cout << std::string(text) + " and " + std::to_string(3); }
//: conversions
#include <charconv>
#include <cstring>
float bits(unsigned u) { float f; std::memcpy(&f, &u, sizeof f); return f; }
