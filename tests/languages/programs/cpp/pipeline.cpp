// A queue between a producer and consumers, with condition variables.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <queue>
#include <thread>
#include <vector>

template <typename Item> class Channel {
    std::queue<Item> items;
    std::mutex lock;
    std::condition_variable changed;
    bool closed = false;

  public:
    void send(Item item) {
        const std::lock_guard held(lock);
        items.push(std::move(item));
        changed.notify_one();
    }
    void close() {
        const std::lock_guard held(lock);
        closed = true;
        changed.notify_all();
    }
    std::optional<Item> receive() {
        std::unique_lock held(lock);
        changed.wait(held, [this] { return closed || !items.empty(); });
        if (items.empty()) return std::nullopt;
        Item item = std::move(items.front());
        items.pop();
        return item;
    }
};

int main() {
    Channel<int> numbers, squares;
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i)
        workers.emplace_back([&] {
            while (const auto number = numbers.receive()) squares.send(*number * *number);
        });
    for (int number = 1; number <= 100; ++number) numbers.send(number);
    numbers.close();
    for (auto &worker : workers) worker.join();
    squares.close();
    long total = 0;
    int count = 0;
    while (const auto square = squares.receive()) total += *square, ++count;
    std::printf("%d squares, together %ld\n", count, total);
}
