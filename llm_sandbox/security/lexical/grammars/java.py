"""Comments and strings of Java, text blocks too."""

import re

from llm_sandbox.security.lexical.grammars.steps import ESCAPE, comment, string
from llm_sandbox.security.lexical.regions import Mode

__all__ = ["OUTERMOST"]

OUTERMOST = Mode(
    re.compile(
        r"(?P<comment>//[^\r\n]*|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)"
        rf'|(?P<block>"""(?:[^"\\]++|{ESCAPE}|"(?!""))*+(?:""")?)'
        rf'|(?P<string>"(?:[^"\\\r\n]++|\\[^\r\n]?)*+"?)'
        rf"|(?P<letter>'(?:[^'\\\r\n]++|\\[^\r\n]?)*+'?)"
    ),
    {"comment": comment, "block": string('"""'), "string": string('"'), "letter": string("'")},
)
"""Mode at the start of a program."""
