// Conway's game of life: a glider crosses a board whose edges meet.
#include <cstdio>
#include <set>
#include <utility>

using Cell = std::pair<int, int>;
constexpr int size = 6;

static std::set<Cell> step(const std::set<Cell> &alive) {
    std::set<Cell> next;
    for (int row = 0; row < size; ++row)
        for (int column = 0; column < size; ++column) {
            int neighbours = 0;
            for (int down = -1; down <= 1; ++down)
                for (int right = -1; right <= 1; ++right)
                    if (down != 0 || right != 0)
                        neighbours += alive.contains({(row + down + size) % size, (column + right + size) % size});
            if (neighbours == 3 || (neighbours == 2 && alive.contains({row, column}))) next.insert({row, column});
        }
    return next;
}

int main() {
    std::set<Cell> glider{{0, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}}, alive = glider;
    for (int generation = 0; generation < 4 * size; ++generation) {
        alive = step(alive);
        if (generation != 3) continue;
        for (int row = 0; row < size; ++row) {
            for (int column = 0; column < size; ++column) std::putchar(alive.contains({row, column}) ? '#' : '.');
            std::putchar('\n');
        }
    }
    std::puts(alive == glider ? "home again" : "lost");
}
