"""A cipher, and how to break it by counting letters."""

from collections import Counter


def shift(text, by):
    def one(letter):
        if not letter.isalpha():
            return letter
        base = ord("A") if letter.isupper() else ord("a")
        return chr((ord(letter) - base + by) % 26 + base)

    return "".join(map(one, text))


secret = shift("Meet me where the trees are greenest, near the western gate.", 11)
print(secret)
commonest = Counter(filter(str.isalpha, secret.lower())).most_common(1)[0][0]
key = ord(commonest) - ord("e")
print(key, shift(secret, -key))
