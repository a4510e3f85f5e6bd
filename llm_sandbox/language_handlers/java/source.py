"""Lexical analysis of Java source: comments, strings and top-level declarations."""

import re
from dataclasses import dataclass

__all__ = ["Outline", "outline", "without_comments", "without_text"]

_TOKEN = re.compile(
    r"""
    (?P<text>
        "{3}(?:[^"\\]|\\[\s\S]|"(?!""))*+(?:"{3}|\Z) | "(?:[^"\\\n]|\\.)*+"? | '(?:[^'\\\n]|\\.)*+'?
    )
    | (?P<comment>//[^\n]*+ | /\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))
    """,
    re.VERBOSE,
)
_NAME = r"[A-Za-z_$][\w$]*"
_PACKAGE = re.compile(rf"package\s+({_NAME}(?:\s*\.\s*{_NAME})*)\s*")
_TYPE = re.compile(rf"\b(class|interface|enum|record)\s+({_NAME})")
_MAIN = re.compile(r"\bstatic\s+(?:\w+\s+){0,3}void\s+main\s*\(")
_ANNOTATION = re.compile(r"@(?!interface\b)[\w.]+\s*")
_MODIFIERS = re.compile(
    r"(?:(?:public|protected|private|abstract|static|final|strictfp|sealed|non-sealed)\s+)*+"
)


def without_comments(code: str) -> str:
    """Return code without its comments; line numbers do not change."""

    def replace(found: re.Match[str]) -> str:
        if found["comment"] is None:
            return found[0]
        # A comment parts words as a space does.
        return "\n" * found[0].count("\n") or ("" if found[0].startswith("//") else " ")

    return _TOKEN.sub(replace, code)


def without_text(code: str) -> str:
    """Return code without its comments, and with empty string and character literals."""

    def replace(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n") if found["comment"] is not None else '""'

    return _TOKEN.sub(replace, code)


@dataclass(frozen=True, slots=True)
class Outline:
    """Top-level declarations of a source file."""

    package: str
    """Name of the package; empty for none."""
    public: str | None
    """Name of the public type, which determines the file name; None if there is none."""
    main: str | None
    """Name of the first type with a main method; None if there is none."""
    declares_only: bool
    """Whether the file has only a package declaration, imports and types."""

    @property
    def main_class(self) -> str | None:
        """Qualified name of the class to run."""
        if self.main is None:
            return None
        return f"{self.package}.{self.main}" if self.package else self.main


def outline(code: str) -> Outline:
    """Parse the top-level declarations of a source file."""
    text = without_text(code)
    package, public, main, only = "", None, None, True
    for head, body in _parts(text):
        words = _plain_head(head)
        if body is None:
            named = _PACKAGE.fullmatch(words)
            if named:
                package = re.sub(r"\s+", "", named[1])
            elif words and not words.startswith("import"):
                only = False
            continue
        after = _MODIFIERS.match(words)
        start = after.end() if after else 0
        declared = _TYPE.match(words, start) or _TYPE.match(words.replace("@", "", 1), start)
        if declared is None:
            only = False
            continue
        if "public" in words[:start].split():
            public = declared[2]
        if main is None and _MAIN.search(body):
            main = declared[2]
    return Outline(package, public, main, only)


def _plain_head(head: str) -> str:
    """Return the beginning of a declaration without its annotations."""
    kept, at = [], 0
    while found := _ANNOTATION.search(head, at):
        kept.append(head[at : found.start()])
        at = found.end()
        if head[at : at + 1] == "(":
            depth = 0
            while at < len(head):
                depth += {"(": 1, ")": -1}.get(head[at], 0)
                at += 1
                if depth == 0:
                    break
    kept.append(head[at:])
    return "".join(kept).strip()


def _parts(text: str) -> list[tuple[str, str | None]]:
    """Yield the top-level parts: the text before a brace with the contents of the braces, or a
    statement.
    """
    parts: list[tuple[str, str | None]] = []
    start, opened, depth, parens = 0, 0, 0, 0
    for found in re.finditer(r"[{};()]", text):
        sign, at = found[0], found.start()
        if sign in "()":
            # An annotation may hold braces: `@A({1, 2})`.
            if depth == 0:
                parens = max(0, parens + (1 if sign == "(" else -1))
        elif parens:
            continue
        elif sign == "{":
            if depth == 0:
                opened = at
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                parts.append((text[start:opened], text[opened : at + 1]))
                start = at + 1
            depth = max(0, depth)
        elif depth == 0:
            parts.append((text[start:at].strip(), None))
            start = at + 1
    rest = text[start:].strip()
    if rest:
        parts.append((rest, None) if depth == 0 else (text[start:opened], text[opened:]))
    return parts
