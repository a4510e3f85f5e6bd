"""C++ source as text: comments, and what it includes."""

import re

__all__ = ["INLINE_COMMENT", "MULTILINE_COMMENT", "import_pattern", "without_comments"]

# What is not closed goes on to the end, so that no place is looked at twice.
MULTILINE_COMMENT = r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)"
"""A comment between ``/*`` and ``*/``; the pattern does not know strings."""
INLINE_COMMENT = r"//(?:[^\n\\]|\\(?:\r?\n)?)*"
"""A comment up to the end of its line, which a backslash carries to the next one; the pattern does
not know strings."""

_TOKEN = re.compile(
    rf"""
    (?P<block>{MULTILINE_COMMENT})
    | (?P<line>{INLINE_COMMENT})
    | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]{{0,16}})\([\s\S]*?(?:\)(?P=mark)"|\Z)
    | (?:u8|[uUL])?"(?:[^"\\\n]|\\[\s\S])*"?
    | (?:u8|[uUL])?'(?:[^'\\\n]|\\[\s\S])*'?
    | \.?[0-9](?:[eEpP][+-]|'?[A-Za-z0-9_.])*  # quotes between digits are no characters
    | [A-Za-z_]\w*
    """,
    re.VERBOSE,
)


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
    """Return a pattern for including or importing a header, with or without its ending, a folder of
    headers, or a module.
    """
    gap = r"(?:[ \t]|\\\r?\n)*"
    name = re.escape(module)
    header = rf"[<\"]{gap}{name}(?:\.(?:h|hh|hpp|hxx|h\+\+))?(?:/[^>\"\n]*)?{gap}[>\"]"
    directive = rf"(?:#|%:){gap}(?:include|include_next|import){gap}{header}"
    imported = rf"(?:export[ \t]+)?import[ \t]*(?:{header}|{name}(?:[.:][\w.:]*)?[ \t]*(?:;|\[))"
    return rf"^[ \t]*(?:{directive}|{imported})"
