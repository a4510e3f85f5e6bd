// Multiplies matrices whose sizes are part of their types.
#include <array>
#include <cstdio>

template <std::size_t Rows, std::size_t Columns> struct Matrix {
    std::array<std::array<long, Columns>, Rows> cells{};

    template <std::size_t Width>
    constexpr Matrix<Rows, Width> operator*(const Matrix<Columns, Width> &other) const {
        Matrix<Rows, Width> product;
        for (std::size_t row = 0; row < Rows; ++row)
            for (std::size_t column = 0; column < Width; ++column)
                for (std::size_t at = 0; at < Columns; ++at)
                    product.cells[row][column] += cells[row][at] * other.cells[at][column];
        return product;
    }
};

constexpr Matrix<2, 2> power(Matrix<2, 2> base, int exponent) {
    Matrix<2, 2> result{{{{1, 0}, {0, 1}}}};
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2) result = result * base;
        base = base * base;
    }
    return result;
}

int main() {
    const Matrix<2, 3> left{{{{1, 2, 3}, {4, 5, 6}}}};
    const Matrix<3, 2> right{{{{7, 8}, {9, 10}, {11, 12}}}};
    for (const auto &row : (left * right).cells) std::printf("%ld %ld\n", row[0], row[1]);
    static_assert(power({{{{1, 1}, {1, 0}}}}, 10).cells[0][1] == 55);
    std::printf("%ld\n", power({{{{1, 1}, {1, 0}}}}, 80).cells[0][1]);
}
