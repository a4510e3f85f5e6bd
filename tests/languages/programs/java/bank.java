import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Accounts that refuse what they cannot do. */
public class Bank {
    static class Refused extends Exception {
        Refused(String reason) {
            super(reason);
        }
    }

    private final Map<String, Long> balances = new TreeMap<>();
    private final List<String> journal = new ArrayList<>();

    void open(String owner, long cents) {
        balances.put(owner, cents);
        journal.add("open " + owner);
    }

    void transfer(String from, String to, long cents) throws Refused {
        if (!balances.containsKey(to)) {
            throw new Refused("nobody is called " + to);
        }
        long left = balances.getOrDefault(from, 0L) - cents;
        if (left < 0) {
            throw new Refused(from + " lacks " + -left + " cents");
        }
        balances.put(from, left);
        balances.merge(to, cents, Long::sum);
        journal.add(from + " -> " + to + ": " + cents);
    }

    public static void main(String[] args) {
        Bank bank = new Bank();
        bank.open("ada", 10_000);
        bank.open("bob", 500);
        String[][] wishes = {{"ada", "bob", "2550"}, {"bob", "ada", "9999"}, {"ada", "eve", "1"}};
        for (String[] wish : wishes) {
            try {
                bank.transfer(wish[0], wish[1], Long.parseLong(wish[2]));
            } catch (Refused refused) {
                System.out.println("refused: " + refused.getMessage());
            } finally {
                System.out.println("balances: " + bank.balances);
            }
        }
        bank.journal.forEach(System.out::println);
    }
}
