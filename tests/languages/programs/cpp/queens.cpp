// How many ways there are to place queens on a board.
#include <cstdio>

static int place(int size, unsigned columns, unsigned rising, unsigned falling) {
    const unsigned all = (1u << size) - 1;
    if (columns == all) return 1;
    int ways = 0;
    for (unsigned open = all & ~(columns | rising | falling); open != 0;) {
        const unsigned queen = open & -open;
        open ^= queen;
        ways += place(size, columns | queen, (rising | queen) << 1, (falling | queen) >> 1);
    }
    return ways;
}

int main() {
    for (int size = 1; size <= 9; ++size) std::printf("%d: %d\n", size, place(size, 0, 0, 0));
}
