// The most valuable load, by dynamic programming, and what is in it.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

struct Item {
    std::string name;
    int weight, value;
};

int main() {
    const std::vector<Item> items{{"lamp", 3, 40}, {"rope", 4, 55}, {"tent", 7, 100}, {"stove", 5, 60}, {"map", 1, 15}};
    constexpr int capacity = 12;
    std::vector<std::vector<int>> best(items.size() + 1, std::vector<int>(capacity + 1, 0));
    for (size_t i = 0; i < items.size(); ++i)
        for (int room = 0; room <= capacity; ++room) {
            best[i + 1][room] = best[i][room];
            if (room >= items[i].weight)
                best[i + 1][room] = std::max(best[i][room], best[i][room - items[i].weight] + items[i].value);
        }
    std::cout << best[items.size()][capacity] << ':';
    for (size_t i = items.size(), room = capacity; i > 0; --i)
        if (best[i][room] != best[i - 1][room]) {
            std::cout << ' ' << items[i - 1].name;
            room -= items[i - 1].weight;
        }
    std::cout << '\n';
}
