"""A scan from the command line to its exit code."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.cli.exit_codes import USAGE, exit_codes, leave_unwritable, usage_error
from llm_sandbox.cli.render import Progress, say
from llm_sandbox.cli.scan_inputs import NOTEBOOK, Input, find_inputs
from llm_sandbox.cli.scan_notebook import read_cells, scan_cells
from llm_sandbox.cli.scan_output import Totals, print_findings, render
from llm_sandbox.exceptions import LanguageNotSupportedError
from llm_sandbox.results.findings import SEVERITIES
from llm_sandbox.security.languages import canonical
from llm_sandbox.security.policy_file import find_policy
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.scanner import scan

__all__ = ["Arguments", "main"]


@dataclass(frozen=True)
class Arguments:
    """What was typed."""

    paths: Sequence[str]
    policy: str | None
    lang: str | None
    form: str
    fail_on: str | None
    output: Path | None
    exclude: Sequence[str]
    quiet: bool


def main(arguments: Arguments) -> int:
    """Scan what was named, print what was found, and return the exit code."""
    with exit_codes():
        return _Scan(arguments).run()


class _Scan:
    """One scan from the command line to its exit code.

    Args:
        arguments: What was typed.

    Raises:
        SandboxError: An option is not acceptable.
    """

    def __init__(self, arguments: Arguments) -> None:
        self._arguments = arguments
        self._policy = None if arguments.policy is None else find_policy(arguments.policy)
        self._lang = None if arguments.lang is None else canonical(arguments.lang)
        self._unreadable: list[tuple[str, str]] = []

    def run(self) -> int:
        """Scan, print, and return the exit code."""
        with Progress("scanning"):
            reports = list(self._reports())
        if not reports:
            named = " ".join(self._arguments.paths)
            usage_error(f"there is no code in {named}", "name a file with --lang, or a directory")
        least = self._least()
        failed = any(_is_as_grave(report, least) for report in reports)
        code = self._print(reports, failed=failed)
        for path, problem in self._unreadable:
            say(f"{path} was not read: {problem}")
        if code:
            return code
        return USAGE if self._unreadable else int(failed)

    def _reports(self) -> Iterator[ScanReport]:
        arguments = self._arguments
        for one in find_inputs(arguments.paths, self._lang, arguments.exclude):
            if one.problem:
                yield self._unread(one, one.problem)
            elif one.path.lower().endswith(NOTEBOOK):
                yield from self._notebook(one)
            else:
                yield self._scan(one.text, one.lang, one.path)

    def _notebook(self, one: Input) -> Iterator[ScanReport]:
        try:
            lang, cells = read_cells(one.text)
        except LanguageNotSupportedError as error:
            yield self._unread(one, error.message)
        except ValueError as error:
            yield self._unread(one, f"it is no notebook: {error}")
        else:
            if not cells:
                yield self._scan("", lang, one.path)
            yield from scan_cells(
                one.path, cells, lambda text, path: self._scan(text, lang, path, notebook=True)
            )

    def _scan(
        self, text: str, lang: str, path: str | None, *, notebook: bool | None = None
    ) -> ScanReport:
        return scan(text, lang, self._policy, notebook=notebook, path=path)

    def _unread(self, one: Input, problem: str) -> ScanReport:
        self._unreadable.append((one.path, problem))
        policy = self._policy
        return ScanReport(
            one.lang or "any language",
            "lexical",
            policy="" if policy is None else policy.name,
            threshold="safe" if policy is None else policy.severity_threshold.word,
            enforcement="enforce" if policy is None else policy.enforcement,
            parsed=False,
            problem=problem,
            path=one.path,
        )

    def _least(self) -> int:
        """The place of the least severity that fails among all; above all when none does."""
        asked = self._arguments.fail_on
        if asked is None:
            asked = "medium" if self._policy is None else self._policy.severity_threshold.word
        return len(SEVERITIES) if asked in ("never", "safe") else SEVERITIES.index(asked)

    def _print(self, reports: Sequence[ScanReport], *, failed: bool) -> int:
        """Print, and return the exit code of having failed to."""
        arguments, output = self._arguments, self._arguments.output
        is_text = arguments.form == "text"
        if is_text and output is None and sys.stdout.isatty() and not arguments.quiet:
            print_findings(reports)
            return 0
        document = render(reports, arguments.form, failed=failed)
        totals = Totals(reports).sentence()
        if output is not None:
            try:
                output.write_text(document, encoding="utf-8")
            except OSError as error:
                usage_error(f"--output: cannot write {output}: {error.strerror}")
            if not arguments.quiet:
                say(f"{totals}; written to {output}")
            return 0
        if is_text and not arguments.quiet:
            document += f"{totals}\n"
        try:
            sys.stdout.buffer.write(document.encode("utf-8", "replace"))
            sys.stdout.flush()
        except OSError as failure:
            return leave_unwritable(failure)
        return 0


def _is_as_grave(report: ScanReport, least: int) -> bool:
    return any(SEVERITIES.index(finding.severity) >= least for finding in report.findings)
