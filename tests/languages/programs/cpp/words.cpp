// Counts words, most frequent first.
#include <algorithm>
#include <cctype>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

int main() {
    const std::string text = "The sea, the sky: the grey sea. A ship -- a SHIP! -- on the sea.";
    std::map<std::string, int> counts;
    std::string word;
    for (const unsigned char character : text + " ") {
        if (std::isalpha(character)) {
            word += static_cast<char>(std::tolower(character));
        } else if (!word.empty()) {
            ++counts[word];
            word.clear();
        }
    }
    std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto &a, const auto &b) { return a.second > b.second; });
    for (const auto &[name, count] : sorted) std::cout << count << ' ' << name << '\n';
}
