"""What programs do, read without a grammar: R as calls, all others as words."""

from llm_sandbox.security.lexical.rules import RULES
from llm_sandbox.security.lexical.words import WordRules, sight_words
from llm_sandbox.security.sightings import Sightings
from llm_sandbox.security.source import Source

__all__ = ["sight"]

_NONE = WordRules({})


def sight(source: Source) -> Sightings:
    """Return what a program does as far as its words tell.

    Never raises and runs nothing; time grows with the length of the text. Of a language without
    rules only the places that its text names are seen.
    """
    if source.lang == "r":
        from llm_sandbox.security.lexical.r.engine import sight as sight_r

        return sight_r(source)
    return sight_words(source, RULES.get(source.lang, _NONE))
