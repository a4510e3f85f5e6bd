// Parses JSON and prints it in order, with its depth.
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

struct Value;
using List = std::vector<Value>;
using Object = std::map<std::string, Value>;
struct Value {
    std::variant<std::nullptr_t, bool, double, std::string, std::shared_ptr<List>, std::shared_ptr<Object>> data;
};

class Parser {
    const std::string &text;
    std::size_t at = 0;

    char peek() {
        while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
        return at < text.size() ? text[at] : '\0';
    }
    void expect(char wanted) {
        if (peek() != wanted) throw std::runtime_error("expected " + std::string(1, wanted) + " at " + std::to_string(at));
        ++at;
    }
    bool take(const std::string &word) {
        if (text.compare(at, word.size(), word) != 0) return false;
        at += word.size();
        return true;
    }
    std::string string() {
        expect('"');
        std::string result;
        while (at < text.size() && text[at] != '"') {
            if (text[at] == '\\' && ++at < text.size()) result += text[at] == 'n' ? '\n' : text[at];
            else result += text[at];
            ++at;
        }
        expect('"');
        return result;
    }

  public:
    explicit Parser(const std::string &text) : text(text) {}

    Value value() {
        const char next = peek();
        if (next == '{') {
            auto object = std::make_shared<Object>();
            for (expect('{'); peek() != '}';) {
                if (!object->empty()) expect(',');
                peek();
                auto name = string();
                expect(':');
                (*object)[name] = value();
            }
            expect('}');
            return {object};
        }
        if (next == '[') {
            auto list = std::make_shared<List>();
            for (expect('['); peek() != ']';) {
                if (!list->empty()) expect(',');
                list->push_back(value());
            }
            expect(']');
            return {list};
        }
        if (next == '"') return {string()};
        if (take("true")) return {true};
        if (take("false")) return {false};
        if (take("null")) return {nullptr};
        char *end = nullptr;
        const double number = std::strtod(text.c_str() + at, &end);
        if (end == text.c_str() + at) throw std::runtime_error("no value at " + std::to_string(at));
        at = end - text.c_str();
        return {number};
    }
};

template <class... Cases> struct Match : Cases... { using Cases::operator()...; };

static void print(const Value &value, int depth) {
    const std::string gap(2 * depth, ' ');
    std::visit(Match{
                   [&](std::nullptr_t) { std::cout << "null\n"; },
                   [&](bool truth) { std::cout << (truth ? "true" : "false") << '\n'; },
                   [&](double number) { std::cout << number << '\n'; },
                   [&](const std::string &text) { std::cout << text << '\n'; },
                   [&](const std::shared_ptr<List> &list) {
                       std::cout << list->size() << " values\n";
                       for (const auto &item : *list) std::cout << gap << "- ", print(item, depth + 1);
                   },
                   [&](const std::shared_ptr<Object> &object) {
                       std::cout << object->size() << " names\n";
                       for (const auto &[name, item] : *object) std::cout << gap << name << ": ", print(item, depth + 1);
                   },
               },
               value.data);
}

int main() {
    print(Parser(R"({"name": "tower", "parts": [1, 2.5, {"deep": null}], "open": true, "say": "a \"b\""})").value(), 0);
    try {
        Parser("[1, 2").value();
    } catch (const std::runtime_error &error) {
        std::cout << "error: " << error.what() << '\n';
    }
}
