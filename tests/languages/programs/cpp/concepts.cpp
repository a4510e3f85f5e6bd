// Functions that choose by what a type can do.
#include <concepts>
#include <cstdio>
#include <string>
#include <vector>

template <typename T> concept Sized = requires(const T &value) {
    { value.size() } -> std::convertible_to<std::size_t>;
};

template <typename T> concept Number = std::integral<T> || std::floating_point<T>;

static double weigh(const Number auto &number) { return static_cast<double>(number); }
static double weigh(const Sized auto &items) { return static_cast<double>(items.size()); }

template <typename... Things> static double total(const Things &...things) { return (0.0 + ... + weigh(things)); }

int main() {
    std::printf("%.1f\n", total(1, 2.5f, std::string("four"), std::vector<int>{1, 2, 3}));
    std::printf("%.1f\n", total());
}
