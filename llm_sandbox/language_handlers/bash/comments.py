"""Comment removal for Bash scripts."""

import re

__all__ = ["without_comments"]

_HERE = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]*)'|\"([^\"\n]*)\"|\\?([^\s;&|<>()'\"]+))")
_CODE = re.compile(r"\\.|<<<|<<|\$'|\$\(|\$\{|['\"()#\n]", re.DOTALL)
_INSIDE = re.compile(r"\\.|\$\(|\$\{|[\"}]", re.DOTALL)
_LITERAL = re.compile(r"(?:[^'\\]|\\.)*'?", re.DOTALL)
_START, _TABBED = "^", "^\t*"
_BEFORE_COMMENT = frozenset(" \t\n;&|()")


def without_comments(code: str) -> str:
    """Return a script without its comments; every other line stays on its line."""
    return _Scanner(code).scan()


class _Scanner:
    def __init__(self, code: str) -> None:
        self._code = code
        self._kept: list[str] = []
        self._from = 0
        self._at = 0
        self._open: list[str] = []
        self._waiting: list[tuple[str, bool]] = []

    def scan(self) -> str:
        while True:
            inside = bool(self._open) and self._open[-1] != ")"
            found = (_INSIDE if inside else _CODE).search(self._code, self._at)
            if found is None:
                break
            self._at = found.end()
            if inside:
                self._skip_quoted(found[0])
            else:
                self._take(found[0], found.start())
        return "".join((*self._kept, self._code[self._from :]))

    def _skip_quoted(self, mark: str) -> None:
        """Skip a double-quoted string, or an expansion in braces."""
        if mark in ("$(", "${"):
            self._open.append(")" if mark == "$(" else "}")
        elif mark == self._open[-1]:
            self._open.pop()
        elif mark == '"':
            self._open.append(mark)

    def _take(self, mark: str, start: int) -> None:
        if mark in ("(", "$("):
            self._open.append(")")
        elif mark == "${":
            self._open.append("}")
        elif mark == '"':
            self._open.append(mark)
        elif mark == ")":
            if self._open:
                self._open.pop()
        elif mark == "'":
            end = self._code.find("'", self._at)
            self._at = end + 1 if end >= 0 else len(self._code)
        elif mark == "$'":
            literal = _LITERAL.match(self._code, self._at)
            self._at = literal.end() if literal else self._at
        elif mark == "<<":
            self._add_heredoc(start)
        elif mark == "\n":
            self._pass_documents()
        elif mark == "#" and (start == 0 or self._code[start - 1] in _BEFORE_COMMENT):
            end = self._code.find("\n", start)
            self._kept.append(self._code[self._from : start])
            self._from = self._at = end if end >= 0 else len(self._code)

    def _add_heredoc(self, start: int) -> None:
        """Record a here-document whose text begins on the next line; a shift operator is not
        one.
        """
        found = _HERE.match(self._code, start)
        # In arithmetic the parenthesis around it is a double one: rather keep too much.
        if found is not None and not found[0].rstrip().endswith("="):
            word = next(part for part in found.groups()[1:] if part is not None)
            if not word.isdigit():
                self._waiting.append((word, bool(found[1])))
                self._at = found.end()

    def _pass_documents(self) -> None:
        for word, tabs in self._waiting:
            end = re.compile((_TABBED if tabs else _START) + re.escape(word) + "$", re.MULTILINE)
            found = end.search(self._code, self._at)
            self._at = found.end() if found else len(self._code)
        self._waiting.clear()
