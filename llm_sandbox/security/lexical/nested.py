"""Programs within programs: text that one of any language hands to an interpreter."""

from collections.abc import Iterator
from dataclasses import replace

from llm_sandbox.results.findings import Span
from llm_sandbox.security.languages import engine_of
from llm_sandbox.security.raw_findings import ModuleUse, RawFinding, ScanOutput
from llm_sandbox.security.source import Source

__all__ = ["findings_within", "modules_within", "read_within"]


def read_within(text: str, lang: str) -> ScanOutput:
    """Return what a program does that another one holds as text.

    Args:
        text: The inner program.
        lang: Its language, by the name that the library knows it by.
    """
    return engine_of(lang)(Source(text, lang, notebook=False))


def findings_within(inner: ScanOutput, span: Span, route: str) -> Iterator[RawFinding]:
    """Yield what an inner program does, as done by the outer one.

    Args:
        inner: What the inner program does.
        span: Where the outer one evaluates it.
        route: What evaluates it, such as ``eval``.
    """
    for seen in inner.findings:
        yield replace(seen, span=span, inner=seen.inner or seen.span, route=(route, *seen.route))


def modules_within(inner: ScanOutput, span: Span, route: str) -> Iterator[ModuleUse]:
    """Yield the modules that an inner program comes by, as come by by the outer one."""
    for module in inner.modules:
        yield replace(module, span=span, route=(route, *module.route))
