"""Engine for languages that only a language handler knows, by its patterns."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Protocol

from llm_sandbox.security.models import PatternTarget
from llm_sandbox.security.raw_findings import ModuleUse, ScanOutput
from llm_sandbox.security.source import Source

__all__ = ["CodeReader", "RegexEngine"]


class CodeReader(Protocol):
    """Methods of a language handler that the scanner uses."""

    @property
    def name(self) -> str:
        """Name of the language."""

    def filter_comments(self, code: str) -> str:
        """Return `code` without comments, on the same lines."""

    def get_import_patterns(self, module: str) -> str:
        """Return a regular expression that matches an import of `module`."""


class RegexEngine:
    """Engine for one program, based on the patterns of a handler.

    Args:
        source: The program.
        reader: The handler.
    """

    def __init__(self, source: Source, reader: CodeReader) -> None:
        self._source = source
        self._reader = reader
        self._visible = self._without_comments()

    def scan(self, modules: Iterable[str]) -> ScanOutput:
        """Return the given modules that the program imports."""
        return ScanOutput("lexical", modules=list(self._imports(modules)))

    def mask(self, target: PatternTarget) -> str:
        """Return the program without comments; a handler does not distinguish strings from code."""
        return self._visible

    def _imports(self, modules: Iterable[str]) -> Iterator[ModuleUse]:
        for name in modules:
            pattern = self._reader.get_import_patterns(name)
            found = re.search(pattern, self._visible, re.MULTILINE)
            if found is not None:
                yield ModuleUse(name, self._source.span(found.start(), found.end()), "medium")

    def _without_comments(self) -> str:
        """Return the program without comments, with the length of each line unchanged."""
        text = self._source.text
        shown = self._reader.filter_comments(text).replace("\r\n", "\n").replace("\r", "\n")
        lines = shown.split("\n")
        starts = [*self._source.starts, len(text)]
        if len(lines) != len(starts) - 1:
            return text
        widths = (end - start for start, end in pairwise(starts))
        return "".join(
            line[: width - 1].ljust(width - 1) + "\n" if number < len(lines) - 1 else line
            for number, (line, width) in enumerate(zip(lines, widths, strict=True))
        )
