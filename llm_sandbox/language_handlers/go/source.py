"""Go source as text: comments, and what it imports."""

import re

__all__ = ["INLINE_COMMENT", "MULTILINE_COMMENT", "import_pattern", "without_comments"]

# What is not closed goes on to the end, so that no place is looked at twice.
MULTILINE_COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)"
"""A comment between ``/*`` and ``*/``; the pattern does not know strings."""
INLINE_COMMENT = r"//[^\n]*"
"""A comment up to the end of its line; the pattern does not know strings."""

_TOKEN = re.compile(
    rf"""
    (?P<block>{MULTILINE_COMMENT})
    | (?P<line>{INLINE_COMMENT})
    | `[^`]*`?
    | "(?:[^"\\\n]|\\.)*"?
    | '(?:[^'\\\n]|\\.)*'?
    """,
    re.VERBOSE,
)
_LONGEST_GROUP = 4000


def without_comments(code: str) -> str:
    """Return code without its comments; everything else stays on its line."""

    def replace(found: re.Match[str]) -> str:
        if found["block"] is None and found["line"] is None:
            return found[0]
        lines = "\n" * found[0].count("\n")
        # A comment parts the words beside it.
        return lines or (" " if found["block"] is not None else "")

    return _TOKEN.sub(replace, code)


def import_pattern(module: str) -> str:
    """Return a pattern for importing a package, or one below it, alone or in a group."""
    path = rf"[\"`]{re.escape(module)}(?:/[^\"`\n]*)?[\"`]"
    alias = r"(?:[\w.]+[ \t]*)?"
    alone = rf"\bimport[ \t]*{alias}{path}"
    group = rf"\bimport\s*\([^()]{{0,{_LONGEST_GROUP}}}?{path}"
    # A line of a group that is longer, or has brackets in its comments.
    line = rf"^[ \t]*{alias}{path}[ \t\r]*(?:$|;|\)|//|/\*)"
    return rf"{alone}|{group}|{line}"
