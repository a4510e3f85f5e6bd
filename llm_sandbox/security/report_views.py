"""A scan report as HTML and in a terminal: hostile code, shown and never obeyed."""

from html import escape
from typing import TYPE_CHECKING

from llm_sandbox.security.report_text import finding_line, one_visible_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from llm_sandbox.results.findings import Finding
    from llm_sandbox.security.report import ScanReport

__all__ = ["SEVERITY_STYLES", "as_html", "as_rich"]

SEVERITY_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "safe": "dim"}
"""The style of rich for each severity."""

_MOST = 100
_COLOURS = {"high": "#b3261e", "medium": "#8a5a00", "low": "#1f6f8b", "safe": "#666666"}


def as_html(report: "ScanReport") -> str:
    """Return a report as a piece of HTML without scripts, styles of its own or links."""
    rows = "".join(_row(finding, report.path) for finding in report.findings[:_MOST])
    more = _more(report)
    rest = f"<p>{more}</p>" if more else ""
    listing = f'<ol style="list-style:none;padding:0">{rows}</ol>' if rows else ""
    return f"<div><p><strong>{_text(report.summary)}</strong></p>{listing}{rest}</div>"


def _row(finding: "Finding", path: str | None) -> str:
    colour = _COLOURS[finding.severity]
    parts = [f'<span style="color:{colour}">{_text(finding_line(finding, path))}</span>']
    if finding.snippet:
        code = _text(one_visible_line(finding.snippet))
        parts.append(f"<br><code><mark>{code}</mark></code>")
    if finding.why or finding.fix:
        parts.append(f"<br><small>{_text(' '.join((finding.why, finding.fix)).strip())}</small>")
    return f"<li>{''.join(parts)}</li>"


def _text(text: str) -> str:
    # trust: code, names and paths may hold markup.
    return escape(one_visible_line(text, 1_000))


def _more(report: "ScanReport") -> str:
    left = len(report.findings) - _MOST
    return f"{left} more findings" if left > 0 else ""


def as_rich(report: "ScanReport") -> "RenderableType":
    """Return what rich prints for a report: the findings with their code, and the summary."""
    from rich.console import Group
    from rich.text import Text

    lines: list[Text] = []
    for finding in report.findings[:_MOST]:
        style = SEVERITY_STYLES[finding.severity]
        lines.append(Text(finding_line(finding, report.path), style))
        if finding.snippet:
            lines.append(Text.assemble("    ", (one_visible_line(finding.snippet), "reverse")))
        if finding.fix:
            lines.append(Text(f"    {one_visible_line(finding.fix)}", "dim"))
    if more := _more(report):
        lines.append(Text(more, "dim"))
    lines.append(Text(report.summary, "bold"))
    return Group(*lines)
