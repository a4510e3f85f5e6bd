// Matrices: product, transpose, determinant by elimination, and a solved system.
const multiply = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((sum, x, k) => sum + x * b[k][j], 0)));
const transpose = (m) => m[0].map((_, j) => m.map((row) => row[j]));

function eliminate(matrix) {
  const m = matrix.map((row) => [...row]);
  let sign = 1;
  for (let column = 0; column < m.length; column += 1) {
    let pivot = column;
    for (let row = column; row < m.length; row += 1) {
      if (Math.abs(m[row][column]) > Math.abs(m[pivot][column])) pivot = row;
    }
    if (pivot !== column) {
      [m[pivot], m[column]] = [m[column], m[pivot]];
      sign = -sign;
    }
    for (let row = column + 1; row < m.length; row += 1) {
      const factor = m[row][column] / m[column][column];
      for (let k = column; k < m[row].length; k += 1) m[row][k] -= factor * m[column][k];
    }
  }
  return { m, sign };
}

function solve(matrix, values) {
  const { m } = eliminate(matrix.map((row, i) => [...row, values[i]]));
  const n = m.length;
  const x = Array(n).fill(0);
  for (let i = n - 1; i >= 0; i -= 1) {
    const known = x.reduce((sum, value, k) => sum + m[i][k] * value, 0);
    x[i] = (m[i][n] - known) / m[i][i];
  }
  return x;
}

const a = [[2, 1, -1], [-3, -1, 2], [-2, 1, 2]];
const { m, sign } = eliminate(a);
console.log("determinant", Math.round(sign * m.reduce((product, row, i) => product * row[i], 1)));
console.log("solution", solve(a, [8, -11, -3]).map((x) => Math.round(x * 1e9) / 1e9));
console.log(multiply(a, transpose(a)).map((row) => row.join(" ")).join("\n"));
