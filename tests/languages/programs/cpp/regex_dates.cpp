// Finds dates by a regular expression and turns them round.
#include <iostream>
#include <regex>
#include <string>

int main() {
    const std::string log = "opened 2021-03-04, closed 2022-11-30; not a date: 2022-1-1";
    const std::regex date(R"((\d{4})-(\d{2})-(\d{2}))");
    for (auto found = std::sregex_iterator(log.begin(), log.end(), date); found != std::sregex_iterator(); ++found)
        std::cout << (*found)[3] << '.' << (*found)[2] << '.' << (*found)[1] << '\n';
    std::cout << std::regex_replace(log, date, "<$1>") << '\n';
}
