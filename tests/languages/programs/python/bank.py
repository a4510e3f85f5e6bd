"""Accounts that refuse to be overdrawn."""

from dataclasses import dataclass, field


class OverdrawnError(Exception):
    pass


@dataclass
class Account:
    owner: str
    balance: int = 0
    log: list[str] = field(default_factory=list)

    def move(self, amount: int) -> None:
        if self.balance + amount < 0:
            raise OverdrawnError(f"{self.owner} lacks {-(self.balance + amount)}")
        self.balance += amount
        self.log.append(f"{amount:+d}")


anna, ben = Account("Anna", 100), Account("Ben")
for source, target, amount in [(anna, ben, 30), (ben, anna, 50), (anna, ben, 70)]:
    try:
        source.move(-amount)
        target.move(amount)
    except OverdrawnError as error:
        print("refused:", error)
print(anna)
print(ben.balance, ben.log)
