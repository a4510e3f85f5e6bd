// What a C++ session needs: the standard library, threads, and JSON.
#include <algorithm>
#include <cassert>
#include <future>
#include <iostream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

int main() {
    const auto value = nlohmann::json::parse(R"({"numbers": [1, 41]})");
    const auto numbers = value["numbers"].get<std::vector<int>>();
    auto sum = std::async(std::launch::async, [&numbers] {
        int total = 0;
        for (const int number : numbers) total += number;
        return total;
    });
    const bool matches = std::regex_match(std::string("a42"), std::regex("[a-z][0-9]+"));
    if (sum.get() != 42 || !matches) {
        std::cerr << "wrong results\n";
        return 1;
    }
    std::cout << "c++  " << __cplusplus << '\n';
}
