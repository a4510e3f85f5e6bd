"""Matrices with operators, and Fibonacci numbers by them."""


class Matrix:
    def __init__(self, *rows):
        self.rows = [list(row) for row in rows]

    def __matmul__(self, other):
        columns = list(zip(*other.rows))
        return Matrix(*([sum(a * b for a, b in zip(row, column)) for column in columns] for row in self.rows))

    def __pow__(self, exponent):
        result = Matrix(*([int(i == j) for j in range(len(self.rows))] for i in range(len(self.rows))))
        base = self
        while exponent:
            if exponent % 2:
                result = result @ base
            base, exponent = base @ base, exponent // 2
        return result

    def __repr__(self):
        return "\n".join(" ".join(f"{value:>4}" for value in row) for row in self.rows)


print(Matrix([1, 2], [3, 4]) @ Matrix([0, 1], [1, 0]))
print((Matrix([1, 1], [1, 0]) ** 90).rows[0][1])
