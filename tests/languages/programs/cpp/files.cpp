// Writes a file, reads it by fields, and walks a folder.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace fs = std::filesystem;

int main() {
    const fs::path folder = fs::temp_directory_path() / "ledger";
    fs::create_directories(folder / "old");
    std::ofstream(folder / "sales.csv") << "item,amount,price\npen,3,1.5\nbook,2,12.25\n";
    std::ofstream(folder / "old" / "notes.txt") << "nothing\n";

    std::ifstream file(folder / "sales.csv");
    std::string line, item, amount, price;
    double total = 0;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        std::getline(fields, item, ',') && std::getline(fields, amount, ',') && std::getline(fields, price);
        total += std::stoi(amount) * std::stod(price);
        std::cout << item << " x" << amount << '\n';
    }
    std::cout << "total " << total << '\n';

    std::vector<std::string> names;
    for (const auto &entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder).string() + " " + std::to_string(entry.file_size()));
    std::sort(names.begin(), names.end());
    for (const auto &name : names) std::cout << name << '\n';
    std::cout << fs::remove_all(folder) << " removed\n";
}
