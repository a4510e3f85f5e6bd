// Exceptions of one's own, caught by their base, and what is undone on the way.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

struct NotEnough : std::runtime_error {
    explicit NotEnough(int missing) : std::runtime_error("missing " + std::to_string(missing)) {}
};

class Transfer {
    std::map<std::string, int> &accounts, before;
    bool done = false;

  public:
    explicit Transfer(std::map<std::string, int> &accounts) : accounts(accounts), before(accounts) {}
    ~Transfer() {
        if (!done) accounts = before;
    }
    void move(const std::string &from, const std::string &to, int amount) {
        accounts.at(to) += amount;
        accounts.at(from) -= amount;
        if (accounts[from] < 0) throw NotEnough(-accounts[from]);
    }
    void commit() { done = true; }
};

int main() {
    std::map<std::string, int> accounts{{"ann", 100}, {"ben", 20}};
    const auto attempt = [&](const char *from, const char *to, int amount) {
        try {
            Transfer transfer(accounts);
            transfer.move(from, to, amount);
            transfer.commit();
            std::puts("moved");
        } catch (const std::out_of_range &) {
            std::puts("no such account");
        } catch (const std::exception &error) {
            std::printf("refused: %s\n", error.what());
        }
    };
    attempt("ann", "ben", 30);
    attempt("ben", "ann", 70);
    attempt("ann", "cat", 10);
    for (const auto &[name, amount] : accounts) std::printf("%s %d\n", name.c_str(), amount);
}
