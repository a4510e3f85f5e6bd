// Numbers that do not fit: factorials, Fibonacci by doubling, and a modular power.
const factorial = (n) => (n < 2n ? 1n : n * factorial(n - 1n));

function fibonacci(n) {
  if (n === 0n) return [0n, 1n];
  const [a, b] = fibonacci(n >> 1n);
  const c = a * (2n * b - a);
  const d = a * a + b * b;
  return n & 1n ? [d, c + d] : [c, d];
}

function power(base, exponent, modulus) {
  let result = 1n;
  for (base %= modulus; exponent > 0n; exponent >>= 1n, base = (base * base) % modulus) {
    if (exponent & 1n) result = (result * base) % modulus;
  }
  return result;
}

console.log(factorial(30n));
console.log(String(fibonacci(300n)[0]));
console.log(power(3n, 1_000_003n, 1_000_000_007n), typeof 1n, 2n ** 64n - 1n);
console.log(Number.MAX_SAFE_INTEGER + 2 === Number.MAX_SAFE_INTEGER + 1, 0.1 + 0.2 !== 0.3, Object.is(-0, 0));
