"""Engines by language, loaded when first needed, and scans of programs within programs."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from llm_sandbox.exceptions import LanguageNotSupportedError
from llm_sandbox.results.findings import Span
from llm_sandbox.security.raw_findings import Engine, ModuleUse, RawFinding, ScanOutput
from llm_sandbox.security.source import Source

__all__ = [
    "LANGUAGES",
    "canonical",
    "engine_of",
    "findings_within",
    "modules_within",
    "scan_nested",
]

_TREES = "llm_sandbox.security.trees"
_LEXICAL = "llm_sandbox.security.lexical.engine"
_ENGINES = {
    "python": ("llm_sandbox.security.python.engine", None),
    "javascript": (f"{_TREES}.javascript", "tree_sitter_javascript"),
    "java": (f"{_TREES}.java", "tree_sitter_java"),
    "cpp": (f"{_TREES}.cpp", "tree_sitter_cpp"),
    "go": (f"{_TREES}.go", "tree_sitter_go"),
    "ruby": (f"{_TREES}.ruby", "tree_sitter_ruby"),
    "bash": (f"{_TREES}.bash", "tree_sitter_bash"),
    "r": (_LEXICAL, None),
}
"""Language to the module with its `scan` function, and the grammar package that it needs."""
LANGUAGES = tuple(sorted(_ENGINES))
"""Names of the supported languages."""
_ALIASES = {
    "py": "python",
    "js": "javascript",
    "node": "javascript",
    "typescript": "javascript",
    "ts": "javascript",
    "c": "cpp",
    "c++": "cpp",
    "golang": "go",
    "rb": "ruby",
    "sh": "bash",
    "shell": "bash",
}


def canonical(lang: str) -> str:
    """Return the canonical name of a language.

    Raises:
        LanguageNotSupportedError: The language is not supported.
    """
    name = str(lang).strip().lower()
    name = _ALIASES.get(name, name)
    if name not in _ENGINES:
        raise LanguageNotSupportedError(name, known=list(LANGUAGES), reason="cannot be scanned")
    return name


def engine_of(lang: str) -> Engine:
    """Return the engine of a language; the lexical one where the grammar is not installed.

    Args:
        lang: Canonical name of the language.
    """
    module, grammar = _ENGINES.get(lang, (_LEXICAL, None))
    if grammar is not None and not _is_there(grammar):
        module = _LEXICAL
    return cast(Engine, import_module(module).scan)


@cache
def _is_there(grammar: str) -> bool:
    return find_spec("tree_sitter") is not None and find_spec(grammar) is not None


def scan_nested(text: str, lang: str) -> ScanOutput:
    """Scan a program that another program contains as text.

    Args:
        text: The nested program.
        lang: Canonical name of the language.
    """
    return engine_of(lang)(Source(text, lang, notebook=False))


def findings_within(inner: ScanOutput, span: Span, route: str) -> Iterator[RawFinding]:
    """Yield the findings of a nested program at the position that evaluates it.

    Args:
        inner: Output for the nested program.
        span: Span of the evaluation in the outer program.
        route: Name of the function that evaluates it, such as ``eval``.
    """
    for seen in inner.findings:
        yield replace(seen, span=span, inner=seen.inner or seen.span, route=(route, *seen.route))


def modules_within(inner: ScanOutput, span: Span, route: str) -> Iterator[ModuleUse]:
    """Yield the modules of a nested program at the position that evaluates it."""
    for module in inner.modules:
        yield replace(module, span=span, route=(route, *module.route))
