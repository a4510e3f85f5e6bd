"""A calculator by recursive descent."""

import re


def tokens(text):
    for number, sign in re.findall(r"(\d+(?:\.\d+)?)|([-+*/()^])", text):
        yield float(number) if number else sign
    yield "end"


class Parser:
    def __init__(self, text):
        self.rest = tokens(text)
        self.now = next(self.rest)

    def take(self):
        taken, self.now = self.now, next(self.rest, "end")
        return taken

    def sum(self):
        value = self.product()
        while self.now in ("+", "-"):
            value += self.product() if self.take() == "+" else -self.product()
        return value

    def product(self):
        value = self.power()
        while self.now in ("*", "/"):
            value = value * self.power() if self.take() == "*" else value / self.power()
        return value

    def power(self):
        base = self.atom()
        if self.now == "^":
            self.take()
            return base ** self.power()
        return base

    def atom(self):
        token = self.take()
        if token == "-":
            return -self.atom()
        if token == "(":
            value = self.sum()
            self.take()
            return value
        return token


for text in ("1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "-4 / (1 - 3)", "10 / 4 - 1.5"):
    print(f"{text} = {Parser(text).sum():g}")
