"""What programs do, read without a grammar: R as calls, all others as words."""

from llm_sandbox.security.lexical.rules import RULES
from llm_sandbox.security.lexical.words import WordRules, scan_words
from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source

__all__ = ["scan"]

_NONE = WordRules({})


def scan(source: Source) -> ScanOutput:
    """Return what a program does as far as its words tell.

    Never raises and runs nothing; time grows with the length of the text. Of a language without
    rules only the places that its text names are seen.
    """
    if source.lang == "r":
        from llm_sandbox.security.lexical.r.engine import scan as scan_r

        return scan_r(source)
    return scan_words(source, RULES.get(source.lang, _NONE))
