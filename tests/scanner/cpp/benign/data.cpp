//: read a file
#include <fstream>
#include <iostream>
int main() { std::ifstream in("data.csv"); for (std::string l; std::getline(in, l);) std::cout << l.size() << '\n'; }
//: write a result
#include <fstream>
int main() { std::ofstream out("out/result.txt"); out << "ok\n"; std::ofstream tmp("/tmp/x.txt"); tmp << 1; }
//: C files
#include <cstdio>
int main() { FILE* f = fopen("a.txt", "r"); char b[64]; while (fgets(b, sizeof b, f)) fputs(b, stdout); fclose(f); }
//: statistics
#include <cmath>
#include <numeric>
#include <vector>
double deviation(const std::vector<double>& v) { double m = std::accumulate(v.begin(), v.end(), 0.0) / v.size(), s = 0; for (double x : v) s += (x - m) * (x - m); return std::sqrt(s / v.size()); }
//: histogram
#include <iostream>
#include <string>
int main() { int v[] = {3, 7, 5}; for (int x : v) std::cout << std::string(x, '#') << '\n'; }
//: ppm
#include <fstream>
int main() { std::ofstream f("plot.ppm"); f << "P3\n2 2\n255\n"; for (int i = 0; i < 4; i++) f << i * 60 << " 0 0\n"; }
//: binary
#include <cstdint>
#include <fstream>
#include <vector>
std::vector<uint8_t> load(const std::string& p) { std::ifstream f(p, std::ios::binary); return {std::istreambuf_iterator<char>(f), {}}; }
//: paths
#include <filesystem>
#include <iostream>
namespace fs = std::filesystem;
int main() { for (auto& e : fs::directory_iterator(".")) std::cout << e.path().filename() << fs::file_size(e) << '\n'; }
//: map of file
#include <sys/mman.h>
void* map(int fd, size_t n) { return mmap(nullptr, n, PROT_READ, MAP_PRIVATE, fd, 0); }
//: input
#include <iostream>
int main() { int n, s = 0; while (std::cin >> n) s += n; std::cout << s; }
