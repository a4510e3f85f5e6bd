// Primes by the sieve of Eratosthenes, and their gaps.
#include <cstdio>
#include <vector>

static std::vector<int> primes_below(int limit) {
    std::vector<bool> composite(limit, false);
    std::vector<int> primes;
    for (int number = 2; number < limit; ++number) {
        if (composite[number]) continue;
        primes.push_back(number);
        for (long multiple = 1L * number * number; multiple < limit; multiple += number)
            composite[multiple] = true;
    }
    return primes;
}

int main() {
    const auto primes = primes_below(100'000);
    std::printf("%zu primes, the last is %d\n", primes.size(), primes.back());
    int widest = 0, after = 0;
    for (size_t i = 1; i < primes.size(); ++i)
        if (primes[i] - primes[i - 1] > widest) {
            widest = primes[i] - primes[i - 1];
            after = primes[i - 1];
        }
    std::printf("widest gap %d after %d\n", widest, after);
}
