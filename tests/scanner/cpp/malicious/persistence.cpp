//: start file
#include <fstream>
int main() { std::ofstream f("/root/.bashrc", std::ios::app); } //!
