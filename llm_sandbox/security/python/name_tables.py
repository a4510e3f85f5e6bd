"""Tables of names as text."""

__all__ = ["names"]


def names(table: str) -> list[str]:
    """Return the names of a table's text; ``{a,b}`` within one stands for both."""
    found: list[str] = []
    for word in table.split():
        _open_braces(word, found)
    return found


def _open_braces(word: str, found: list[str]) -> None:
    before, brace, rest = word.partition("{")
    if not brace:
        found.append(word)
        return
    inside, _, after = rest.partition("}")
    for part in inside.split(","):
        _open_braces(before + part + after, found)
