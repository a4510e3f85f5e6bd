"""What is seen in code that is no program: what the tree still has, and its words."""

from llm_sandbox.security.raw_findings import ScanOutput
from llm_sandbox.security.source import Source

__all__ = ["with_words"]


def with_words(source: Source, seen: ScanOutput) -> ScanOutput:
    """Add what a row of words shows where the syntax tree has gaps.

    Args:
        source: The program.
        seen: What its tree shows; changed when the program could not be read as a whole.
    """
    if not seen.problem:
        return seen
    from llm_sandbox.security.lexical.engine import scan

    known = {(each.capability, each.span.line) for each in seen.findings}
    words = scan(source)
    seen.findings += [
        each for each in words.findings if (each.capability, each.span.line) not in known
    ]
    names = {each.name for each in seen.modules}
    seen.modules += [each for each in words.modules if each.name not in names]
    return seen
