// Adds up parts of a range in threads, and counts under a lock.
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

int main() {
    constexpr int workers = 4;
    constexpr long last = 1'000'000;
    std::vector<long> sums(workers);
    std::mutex lock;
    int finished = 0;
    {
        std::vector<std::jthread> threads;
        for (int worker = 0; worker < workers; ++worker)
            threads.emplace_back([&, worker] {
                for (long number = worker + 1; number <= last; number += workers) sums[worker] += number;
                const std::lock_guard<std::mutex> held(lock);
                ++finished;
            });
    }
    long total = 0;
    for (const long sum : sums) total += sum;
    std::printf("%d threads: %ld\n", finished, total);
}
