// Evaluates expressions by recursive descent.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

class Calculator {
    const char *at;

    char next() {
        while (std::isspace(static_cast<unsigned char>(*at))) ++at;
        return *at;
    }
    double factor() {
        if (next() == '-') return ++at, -factor();
        if (next() == '(') {
            ++at;
            const double value = sum();
            if (next() != ')') throw std::invalid_argument("a bracket is open");
            return ++at, value;
        }
        char *end = nullptr;
        const double value = std::strtod(at, &end);
        if (end == at) throw std::invalid_argument("a number is missing");
        return at = end, value;
    }
    double product() {
        double value = factor();
        while (next() == '*' || next() == '/') {
            if (*at++ == '*') {
                value *= factor();
            } else {
                const double divisor = factor();
                if (divisor == 0) throw std::domain_error("division by zero");
                value /= divisor;
            }
        }
        return value;
    }
    double sum() {
        double value = product();
        while (next() == '+' || next() == '-') value += *at++ == '+' ? product() : -product();
        return value;
    }

  public:
    explicit Calculator(const char *text) : at(text) {}
    double value() {
        const double result = sum();
        if (next() != '\0') throw std::invalid_argument("something follows");
        return result;
    }
};

int main() {
    for (const char *text : {"1 + 2 * 3", "-(4 - 6) / 8", "2 * (3 + 4", "7 / (2 - 2)", "1 2"}) {
        try {
            std::printf("%s = %g\n", text, Calculator(text).value());
        } catch (const std::logic_error &error) {
            std::printf("%s: %s\n", text, error.what());
        }
    }
}
