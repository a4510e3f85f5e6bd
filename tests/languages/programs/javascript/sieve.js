// The primes below a hundred, by crossing out multiples in a typed array.
function sieve(limit) {
  const composite = new Uint8Array(limit);
  const primes = [];
  for (let candidate = 2; candidate < limit; candidate += 1) {
    if (composite[candidate]) continue;
    primes.push(candidate);
    for (let multiple = candidate * candidate; multiple < limit; multiple += candidate) {
      composite[multiple] = 1;
    }
  }
  return primes;
}

const primes = sieve(100);
console.log(primes.length, "primes:", primes.join(" "));
console.log("twins:", primes.filter((p) => primes.includes(p + 2)).map((p) => `${p}/${p + 2}`).join(" "));
