"""Implementation of `llm-sandbox scan`: the scan, its report and the exit code."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from llm_sandbox.cli.exit_codes import USAGE, exit_codes, leave_unwritable, usage_error
from llm_sandbox.cli.render import Progress, say
from llm_sandbox.cli.scan_inputs import NOTEBOOK, Input, find_inputs, read_cells, scan_cells
from llm_sandbox.exceptions import LanguageNotSupportedError
from llm_sandbox.results.findings import SEVERITIES, SeverityName
from llm_sandbox.security.languages import canonical
from llm_sandbox.security.policy_file import find_policy
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.report_views import finding_line, one_visible_line
from llm_sandbox.security.scanner import scan

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["SCHEMA", "Arguments", "Totals", "main", "print_findings", "render"]

SCHEMA = 1
_ORDER: tuple[SeverityName, ...] = ("high", "medium", "low", "safe")


@dataclass(frozen=True)
class Arguments:
    """Arguments of the command."""

    paths: Sequence[str]
    policy: str | None
    lang: str | None
    form: str
    fail_on: str | None
    output: Path | None
    exclude: Sequence[str]
    quiet: bool


def main(arguments: Arguments) -> int:
    """Scan the given code, print the findings, and return the exit code."""
    with exit_codes():
        return _Scan(arguments).run()


class _Scan:
    """One scan from the command line to its exit code.

    Args:
        arguments: Arguments of the command.

    Raises:
        SandboxError: An option is invalid.
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
            yield self._unread(one, f"not a notebook: {error}")
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
        """Return the index of the lowest severity that fails; one past the last when none does."""
        asked = self._arguments.fail_on
        if asked is None:
            asked = "medium" if self._policy is None else self._policy.severity_threshold.word
        return len(SEVERITIES) if asked in ("never", "safe") else SEVERITIES.index(asked)

    def _print(self, reports: Sequence[ScanReport], *, failed: bool) -> int:
        """Print the report, and return the exit code of the printing."""
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


class Totals:
    """Totals of all reports of a scan.

    Args:
        reports: The reports; several may be of one file.
    """

    def __init__(self, reports: Sequence[ScanReport]) -> None:
        findings = [finding for report in reports for finding in report.findings]
        self.files = len({_file(report) for report in reports})
        """Number of files."""
        self.unread = len({_file(report) for report in reports if not report.parsed})
        """Number of files that could not be read or parsed."""
        severities = Counter(finding.severity for finding in findings)
        self.severities: Mapping[str, int] = {
            name: severities[name] for name in _ORDER if name in severities
        }
        """Number of findings by severity, the gravest first."""
        categories = Counter(finding.category for finding in findings)
        self.categories = dict(sorted(categories.items(), key=lambda item: (-item[1], item[0])))
        """Number of findings by category, the most frequent first."""
        self.findings = len(findings)
        """Number of findings."""
        self._off = [report.summary for report in reports if report.enforcement == "off"]

    def sentence(self) -> str:
        """Return the totals in one line."""
        if self._off:
            return self._off[0]
        found = _number(self.findings, "finding") if self.findings else "nothing found"
        by = ", ".join(f"{count} {name}" for name, count in self.severities.items())
        unread = ""
        if self.unread:
            it = "1 of them was" if self.unread == 1 else f"{self.unread} of them were"
            it = "which was" if self.files == 1 else it
            unread = f", {it} not read in full"
        return f"{found} in {_number(self.files, 'file')}{unread}{f': {by}' if by else ''}"


def render(reports: Sequence[ScanReport], kind: str, *, failed: bool) -> str:
    """Format reports as a document that ends in a newline.

    Args:
        reports: The reports.
        kind: ``text``, ``json``, ``sarif`` or ``model``.
        failed: Whether any finding reaches the severity of ``--fail-on``, for ``json``.
    """
    if kind == "json":
        return f"{json.dumps(_document(reports, failed), indent=2, allow_nan=False)}\n"
    if kind == "sarif":
        from llm_sandbox.security.sarif import sarif_log

        return f"{json.dumps(sarif_log(reports), indent=2, allow_nan=False)}\n"
    if kind == "model":
        return "\n\n".join(_message(report, alone=len(reports) == 1) for report in reports) + "\n"
    return "".join(f"{line}\n" for report in reports for line in _lines(report))


def print_findings(reports: Sequence[ScanReport]) -> None:
    """Print findings to a terminal with their code, and tables of totals."""
    from rich.console import Console
    from rich.text import Text

    from llm_sandbox.security.report_views import SEVERITY_STYLES

    console = Console(highlight=False, markup=False, emoji=False)
    for report in reports:
        lines = _lines(report)
        for finding, line in zip(report.findings, lines, strict=False):
            console.print(Text(line, SEVERITY_STYLES[finding.severity]), soft_wrap=True)
            if finding.snippet:
                console.print(Text(f"    {one_visible_line(finding.snippet)}"), soft_wrap=True)
            if finding.fix:
                console.print(Text(f"    {one_visible_line(finding.fix)}", "dim"), soft_wrap=True)
        for line in lines[len(report.findings) :]:
            console.print(Text(line, "yellow"), soft_wrap=True)
    totals = Totals(reports)
    if totals.findings:
        console.print()
        console.print(_table("severity", totals.severities))
        console.print()
        console.print(_table("what the code does", totals.categories))
        console.print()
    console.print(Text(totals.sentence(), "bold"))


def _table(title: str, counts: Mapping[str, int]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table()
    table.add_column(title, overflow="fold")
    table.add_column("findings", justify="right")
    for name, count in counts.items():
        table.add_row(Text(one_visible_line(name)), str(count))
    return table


def _lines(report: ScanReport) -> list[str]:
    """Return a line for each finding, and one for code that could not be read if no finding says
    so.
    """
    lines = [finding_line(finding, report.path) for finding in report.findings]
    if not report.parsed and not any(f.category == "text.unparsed" for f in report.findings):
        lines.append(f"{one_visible_line(report.path or '')}: {report.summary}")
    return lines


def _message(report: ScanReport, *, alone: bool) -> str:
    message = report.message_for_model()
    return message if alone else f"{one_visible_line(report.path or '')}\n{message}"


def _document(reports: Sequence[ScanReport], failed: bool) -> dict[str, object]:
    totals = Totals(reports)
    return {
        "schema": SCHEMA,
        "type": "scans",
        "failed": failed,
        "files": totals.files,
        "unread": totals.unread,
        "severities": totals.severities,
        "categories": totals.categories,
        "reports": [report.to_dict() for report in reports],
    }


def _file(report: ScanReport) -> str:
    return (report.path or "").partition("#cell-")[0]


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
