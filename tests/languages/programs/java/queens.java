/** Queens on a board, and a small sudoku, by trying. */
class Queens {
    static int count(int size, int columns, int left, int right) {
        int all = (1 << size) - 1;
        if (columns == all) {
            return 1;
        }
        int found = 0;
        for (int free = all & ~(columns | left | right); free != 0; free &= free - 1) {
            int place = free & -free;
            found += count(size, columns | place, (left | place) << 1, (right | place) >> 1);
        }
        return found;
    }

    static boolean solve(int[][] board) {
        for (int row = 0; row < 4; row++) {
            for (int column = 0; column < 4; column++) {
                if (board[row][column] != 0) {
                    continue;
                }
                for (int digit = 1; digit <= 4; digit++) {
                    if (fits(board, row, column, digit)) {
                        board[row][column] = digit;
                        if (solve(board)) {
                            return true;
                        }
                        board[row][column] = 0;
                    }
                }
                return false;
            }
        }
        return true;
    }

    private static boolean fits(int[][] board, int row, int column, int digit) {
        for (int i = 0; i < 4; i++) {
            int boxed = board[row / 2 * 2 + i / 2][column / 2 * 2 + i % 2];
            if (board[row][i] == digit || board[i][column] == digit || boxed == digit) {
                return false;
            }
        }
        return true;
    }

    public static void main(String[] args) {
        for (int size = 4; size <= 9; size++) {
            System.out.println(size + ": " + count(size, 0, 0, 0));
        }
        int[][] board = {{1, 0, 0, 0}, {0, 0, 3, 0}, {0, 4, 0, 0}, {0, 0, 0, 2}};
        System.out.println(solve(board));
        for (int[] row : board) {
            for (int digit : row) {
                System.out.print(digit);
            }
            System.out.println();
        }
    }
}
