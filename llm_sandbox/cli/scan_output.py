"""What `llm-sandbox scan` prints: lines, one JSON document, SARIF, or words for a model."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from llm_sandbox.results.findings import SeverityName
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.report_views import finding_line, one_visible_line

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["SCHEMA", "Totals", "print_findings", "render"]

SCHEMA = 1
_ORDER: tuple[SeverityName, ...] = ("high", "medium", "low", "safe")


class Totals:
    """What all reports of a scan come to.

    Args:
        reports: The reports; several may be of one file.
    """

    def __init__(self, reports: Sequence[ScanReport]) -> None:
        findings = [finding for report in reports for finding in report.findings]
        self.files = len({_file(report) for report in reports})
        """Number of files."""
        self.unread = len({_file(report) for report in reports if not report.parsed})
        """Number of files that could not be read, or not as their language."""
        severities = Counter(finding.severity for finding in findings)
        self.severities: Mapping[str, int] = {
            name: severities[name] for name in _ORDER if name in severities
        }
        """Number of findings by severity, the gravest first."""
        categories = Counter(finding.category for finding in findings)
        self.categories = dict(sorted(categories.items(), key=lambda item: (-item[1], item[0])))
        """Number of findings by what they are about, the most frequent first."""
        self.findings = len(findings)
        """Number of findings."""
        self._off = [report.summary for report in reports if report.enforcement == "off"]

    def sentence(self) -> str:
        """Return them in one line."""
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
    """Return reports as a document that ends in a newline.

    Args:
        reports: The reports.
        kind: ``text``, ``json``, ``sarif`` or ``model``.
        failed: Whether any finding is as grave as was asked for, for ``json``.
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
    """Print findings to a terminal, with the code of each, and tables of how many there are."""
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
    """A line for each finding; one more when the code was not read and none of them says so."""
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
