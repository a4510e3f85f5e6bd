// A coroutine that yields the steps of a famous sequence.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

template <typename T> class Generator {
  public:
    struct promise_type {
        T current;
        Generator get_return_object() { return Generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(T value) noexcept { return current = value, std::suspend_always{}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    explicit Generator(std::coroutine_handle<promise_type> handle) : handle(handle) {}
    Generator(Generator &&other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    ~Generator() {
        if (handle) handle.destroy();
    }
    bool next() { return handle.resume(), !handle.done(); }
    T value() const { return handle.promise().current; }

  private:
    std::coroutine_handle<promise_type> handle;
};

static Generator<long> collatz(long number) {
    for (co_yield number; number != 1;) co_yield number = number % 2 == 0 ? number / 2 : 3 * number + 1;
}

int main() {
    auto steps = collatz(27);
    long highest = 0;
    int count = 0;
    for (; steps.next(); ++count) highest = steps.value() > highest ? steps.value() : highest;
    std::printf("%d values, up to %ld\n", count, highest);
}
