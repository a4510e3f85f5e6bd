// A list with iterators of its own, and moves.
#include <cstdio>
#include <initializer_list>
#include <utility>

template <typename T> class List {
    struct Node {
        T value;
        Node *next;
    };
    Node *head = nullptr;

  public:
    struct Iterator {
        Node *node;
        T &operator*() const { return node->value; }
        Iterator &operator++() { return node = node->next, *this; }
        bool operator!=(const Iterator &other) const { return node != other.node; }
    };
    List() = default;
    List(std::initializer_list<T> values) {
        for (const auto &value : values) push(value);
        reverse();
    }
    List(List &&other) noexcept : head(std::exchange(other.head, nullptr)) {}
    List(const List &) = delete;
    List &operator=(const List &) = delete;
    ~List() {
        while (head != nullptr) delete std::exchange(head, head->next);
    }
    void push(T value) { head = new Node{std::move(value), head}; }
    void reverse() {
        Node *turned = nullptr;
        while (head != nullptr) {
            Node *next = head->next;
            head->next = turned;
            turned = head;
            head = next;
        }
        head = turned;
    }
    Iterator begin() const { return {head}; }
    Iterator end() const { return {nullptr}; }
};

int main() {
    List<int> numbers{1, 2, 3, 4};
    numbers.push(0);
    numbers.reverse();
    for (const int number : numbers) std::printf("%d ", number);
    const List<int> moved(std::move(numbers));
    int left = 0, sum = 0;
    for ([[maybe_unused]] const int number : numbers) ++left;
    for (const int number : moved) sum += number;
    std::printf("\n%d left, sum %d\n", left, sum);
}
