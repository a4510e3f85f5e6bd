// Functions that remember, and functions made of functions.
#include <functional>
#include <iostream>
#include <map>
#include <string>

static auto counter(int step) {
    return [count = 0, step]() mutable { return count += step; };
}

template <typename First, typename Second> static auto compose(First first, Second second) {
    return [=](auto value) { return second(first(value)); };
}

int main() {
    auto by_two = counter(2), by_five = counter(5);
    by_two(), by_five();
    std::cout << by_two() << ' ' << by_five() << '\n';
    const auto shout = compose([](std::string text) { return text + "!"; }, [](std::string text) { return text + text; });
    std::cout << shout(std::string("hey")) << '\n';
    std::map<long, long> known;
    std::function<long(long)> ways = [&](long steps) -> long {
        if (steps < 2) return 1;
        if (const auto found = known.find(steps); found != known.end()) return found->second;
        return known[steps] = ways(steps - 1) + ways(steps - 2);
    };
    std::cout << ways(70) << " ways, " << known.size() << " remembered\n";
}
