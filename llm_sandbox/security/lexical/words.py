"""What a program does, told from its words: the names it calls, its imports and its strings.

The way for languages whose grammar is not installed, and for code that is no program.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from llm_sandbox.results.findings import Capability, Confidence
from llm_sandbox.security.lexical.masking import mask, regions
from llm_sandbox.security.lexical.regions import Kind
from llm_sandbox.security.raw_findings import ModuleUse, RawFinding, ScanOutput
from llm_sandbox.security.sensitive_text import find_sensitive_text, is_outside
from llm_sandbox.security.source import Source

__all__ = ["WordRules", "scan_words"]


@dataclass(frozen=True)
class WordRules:
    """What words of a language do.

    Args:
        calls: For each capability the dotted names that do it when they are called, separated by
            blanks. One that begins with a dot is the end of a longer name: ``.exec``.
        names: The same for names that do it wherever they stand.
        marks: For each capability a regular expression of code that does it.
        imports: Finds imports; its groups are names of modules. ``as`` names what the module is
            called afterwards.
        writes: Names of calls whose first argument is the path of a file that they write.
    """

    calls: dict[Capability, str]
    names: dict[Capability, str] = field(default_factory=dict)
    marks: dict[Capability, str] = field(default_factory=dict)
    imports: str = ""
    writes: str = ""

    def table(self) -> dict[str, tuple[Capability, bool]]:
        """Return names with what they do, and whether they have to be called."""
        called = {
            name: (capability, True)
            for capability, names in self.calls.items()
            for name in names.split()
        }
        for capability, names in self.names.items():
            called.update((name, (capability, False)) for name in names.split())
        return called


_NAME = re.compile(
    r"(?<![\w$@.])[^\W\d][\w$]*(?:\s{0,8}(?:\.|::|->|\?\.)\s{0,8}[^\W\d][\w$]*)*+[!?]?"
)
_JOINT = re.compile(r"\s*(?:\.|::|->|\?\.)\s*")
_CALL = re.compile(r"\s{0,8}(?:\(|[`'\"]|\s(?=[\"'`:%]))")
_FIRST_TEXT = re.compile(r"\s{0,8}\(?\s{0,8}[rbuRLf]?[\"'`]")


def scan_words(source: Source, rules: WordRules) -> ScanOutput:
    """Return what a program does by the words in it.

    Never raises; time grows with the length of the text. What is seen is of medium confidence
    unless the whole name of a library's function stands there.

    Args:
        source: The program.
        rules: Those of its language.
    """
    found = ScanOutput("lexical")
    code = mask(source.text, source.lang, "code")
    renamed = _report_imports(source, rules, found, code)
    found.findings.extend(_report_names(source, rules, renamed, code))
    for capability, expression in rules.marks.items():
        for hit in re.finditer(expression, code, re.MULTILINE):
            span = source.span(hit.start(), hit.end())
            found.findings.append(RawFinding(capability, span, hit[0].strip()[:60], "medium"))
    found.findings.extend(_report_places(source))
    return found


def _report_imports(
    source: Source, rules: WordRules, found: ScanOutput, code: str
) -> dict[str, str]:
    """Note the modules; return what the program calls them by."""
    renamed: dict[str, str] = {}
    if not rules.imports:
        return renamed
    for hit in re.finditer(rules.imports, code, re.MULTILINE):
        for index, group in enumerate(hit.groups(), 1):
            if group is None or hit.re.groupindex.get("as") == index:
                continue
            # The name may be a string, which is blank in the code.
            for name in re.split(r"\s*,\s*", source.text[hit.start(index) : hit.end(index)]):
                module, _, alias = name.strip().partition(" as ")
                module = module.strip().strip("\"'`<>;")
                if module:
                    span = source.span(hit.start(), hit.end())
                    found.modules.append(ModuleUse(module, span))
                    if alias.strip():
                        renamed[alias.strip()] = module
                    elif hit.re.groupindex.get("as") and hit["as"]:
                        renamed[hit["as"]] = module
    return renamed


def _report_names(
    source: Source, rules: WordRules, renamed: dict[str, str], code: str
) -> Iterator[RawFinding]:
    table, writes = rules.table(), frozenset(rules.writes.split())
    for hit in _NAME.finditer(code):
        parts = _JOINT.split(hit[0])
        parts[:1] = renamed.get(parts[0], parts[0]).split(".")
        name = ".".join(parts)
        is_called = _CALL.match(code, hit.end()) is not None
        span = source.span(hit.start(), hit.end())
        known = _known(table, parts)
        if known is not None and (is_called or not known[2]):
            confidence: Confidence = "high" if known[1] == name and len(parts) > 1 else "medium"
            yield RawFinding(known[0], span, name, confidence)
        if writes and (name in writes or f".{parts[-1]}" in writes):
            path = _first_text(source, hit.end())
            if path and is_outside(path):
                yield RawFinding(Capability.FILE_WRITE, span, name, "medium", f"to {path[:80]!r}")


def _known(
    table: dict[str, tuple[Capability, bool]], parts: list[str]
) -> tuple[Capability, str, bool] | None:
    for index in range(max(0, len(parts) - 4), len(parts)):
        name = ".".join(parts[index:])
        for key in (name, f".{name}" if index else ""):
            if key in table:
                capability, called = table[key]
                return capability, key, called
    beginning = ".".join(parts[:2])
    if len(parts) > 2 and beginning in table and not table[beginning][1]:
        return table[beginning][0], beginning, False
    return None


def _first_text(source: Source, at: int) -> str:
    begins = _FIRST_TEXT.match(source.text, at)
    if begins is None:
        return ""
    quote = source.text[begins.end() - 1]
    end = source.text.find(quote, begins.end(), begins.end() + 300)
    return source.text[begins.end() : end] if end > 0 else ""


def _report_places(source: Source) -> Iterator[RawFinding]:
    known = regions(source.text, source.lang)
    texts = [(start, end) for start, end, kind in known if kind is Kind.STRING]
    if source.lang == "bash" or not known:
        texts = [(0, len(source.text))]
    for start, end in texts:
        for first, last, capability, what in find_sensitive_text(source.text[start:end]):
            span = source.span(start + first, start + last)
            subject = source.text[start + first : start + last]
            yield RawFinding(capability, span, subject, "high", what)
