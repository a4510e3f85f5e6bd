// A factorial with more digits than a machine word.
#include <iostream>
#include <string>
#include <vector>

class Number {
    std::vector<unsigned> limbs; // base 10^9, least significant first

  public:
    explicit Number(unsigned value) : limbs{value} {}
    Number &operator*=(unsigned factor) {
        unsigned long long carry = 0;
        for (auto &limb : limbs) {
            carry += 1ULL * limb * factor;
            limb = carry % 1'000'000'000;
            carry /= 1'000'000'000;
        }
        if (carry != 0) limbs.push_back(static_cast<unsigned>(carry));
        return *this;
    }
    friend std::ostream &operator<<(std::ostream &out, const Number &number) {
        out << number.limbs.back();
        for (auto limb = number.limbs.rbegin() + 1; limb != number.limbs.rend(); ++limb) {
            const auto digits = std::to_string(*limb);
            out << std::string(9 - digits.size(), '0') << digits;
        }
        return out;
    }
};

int main() {
    Number product(1);
    for (unsigned factor = 2; factor <= 50; ++factor) product *= factor;
    std::cout << product << '\n';
}
