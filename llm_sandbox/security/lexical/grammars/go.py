"""Comments and strings of Go."""

import re

from llm_sandbox.security.lexical.grammars.steps import comment, string
from llm_sandbox.security.lexical.regions import Mode

__all__ = ["OUTERMOST"]

OUTERMOST = Mode(
    re.compile(
        r"(?P<comment>//[^\r\n]*|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)"
        r"|(?P<raw>`[^`]*+`?)"
        r'|(?P<string>"(?:[^"\\\r\n]++|\\[^\r\n]?)*+"?)'
        r"|(?P<letter>'(?:[^'\\\r\n]++|\\[^\r\n]?)*+'?)"
    ),
    {"comment": comment, "raw": string("`"), "string": string('"'), "letter": string("'")},
)
"""Mode at the start of a program."""
