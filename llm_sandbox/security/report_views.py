"""Views of a scan report: plain text, HTML and rich, for people, logs and models.

Hostile code is quoted in the views, never rendered.
"""

import re
from html import escape
from typing import TYPE_CHECKING

from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.results.findings import Finding

if TYPE_CHECKING:
    from rich.console import RenderableType

    from llm_sandbox.security.report import ScanReport

__all__ = [
    "SEVERITY_STYLES",
    "as_html",
    "as_rich",
    "effect_clause",
    "finding_line",
    "message_for_model",
    "one_visible_line",
    "position_text",
    "summary_line",
]

_LONGEST_MESSAGE = 4_000
_MOST_FINDINGS = 10
_LONGEST_PART = 240

# Invisible characters and bidirectional controls are shown by their number,
# because they may be the finding itself.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def one_visible_line(text: str, longest: int = _LONGEST_PART) -> str:
    """Return text as one line without control characters, with invisible characters escaped.

    Args:
        text: Text, such as hostile code.
        longest: Maximum number of characters.
    """
    # trust: code, paths and names are quoted to people and models next to our own words.
    line = " ".join(strip_controls(text[: 4 * longest]).split())
    shown = _INVISIBLE.sub(lambda found: _number(found[0]), line)
    return shown if len(shown) <= longest else f"{shown[: longest - 3]}..."


def _number(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def position_text(finding: Finding, path: str | None) -> str:
    """Return the position of a finding: ``path:line:column``, or ``line:column`` without a path."""
    at = f"{finding.line}:{finding.column}"
    return at if path is None else f"{one_visible_line(path)}:{at}"


def finding_line(finding: Finding, path: str | None = None) -> str:
    """Return a finding as one line: position, severity, rule and effect."""
    severity = finding.severity.upper()
    return (
        f"{position_text(finding, path)}: {severity} {_called(finding)}: {effect_clause(finding)}"
    )


def _called(finding: Finding) -> str:
    """Return the name of the finding's rule: a capability, or a rule of the policy."""
    own = finding.category in ("pattern", "module")
    return one_visible_line(finding.rule_id if own else finding.category)


def effect_clause(finding: Finding) -> str:
    """Return a clause with the effect of the code, and the subject when the message lacks it."""
    words = [one_visible_line(finding.message)]
    if finding.subject and finding.subject not in finding.message:
        words[0] += f" ({one_visible_line(finding.subject)})"
    if finding.route:
        words.append(f"by way of {one_visible_line(' > '.join(finding.route))}")
    if finding.inner is not None:
        inner = finding.inner
        words.append(f"at {inner.line}:{inner.column} of the text that is evaluated")
    if finding.confidence != "high":
        words.append(f"{finding.confidence} confidence")
    return ", ".join(words)


def summary_line(report: "ScanReport") -> str:
    """Return the number of findings, the number that block, and whether the code parsed."""
    if report.enforcement == "off":
        return "not scanned: the policy's enforcement is off"
    count = len(report.findings)
    found = "nothing found" if not count else f"{count} finding{'' if count == 1 else 's'}"
    return f"{found}{_blocking_words(report)}{_unread_words(report)}"


def _blocking_words(report: "ScanReport") -> str:
    count, blocking = len(report.findings), len(report.blocking)
    if not count or report.threshold == "safe":
        return ""
    name = one_visible_line(report.policy)
    under = f'under the policy "{name}"' if name else "under the policy"
    if not blocking:
        return f", {'which does not block' if count == 1 else 'none of them blocks'} {under}"
    if report.enforcement == "enforce":
        verb = "blocks" if blocking == 1 else "block"
    else:
        verb = "would block"
    if count == 1:
        return f", which {verb} {under}"
    return f", {'all' if blocking == count else blocking} of them {verb} {under}"


def _unread_words(report: "ScanReport") -> str:
    if report.parsed:
        return ""
    found = "but" if not report.findings else "and"
    reason = f": {one_visible_line(report.problem)}" if report.problem else ""
    if not report.read:
        return f", {found} the code was not read{reason}"
    return f", {found} the code could not be read as {_language(report)}{reason}"


def _language(report: "ScanReport") -> str:
    return one_visible_line(report.lang) or "a program"


def message_for_model(report: "ScanReport") -> str:
    """Return the message for the model that wrote the code."""
    blocking = report.blocking
    # The sort is stable: blocking and other findings each stay in the order of the code.
    ids = {id(finding) for finding in blocking}
    ordered = sorted(report.findings, key=lambda finding: id(finding) not in ids)
    pieces = [_opening(report)]
    size = len(pieces[0])
    told = 0
    for finding in ordered[:_MOST_FINDINGS]:
        piece = _account(finding, told + 1, blocks=told < len(blocking))
        # 400 characters are reserved for the text after the findings.
        if size + len(piece) + 2 > _LONGEST_MESSAGE - 400:
            break
        pieces.append(piece)
        size += len(piece) + 2
        told += 1
    if told < len(ordered):
        left = len(ordered) - told
        of_them = max(0, len(blocking) - told)
        refused = f", {of_them} of them refused as well" if of_them else ""
        pieces.append(
            f"{left} more {'finding is' if left == 1 else 'findings are'} not told{refused}."
        )
    if blocking and report.enforcement == "enforce":
        pieces.append(
            "Write code that does the task without what was refused, and send all of it again. If "
            "the task cannot be done without it, say so: only a person can change the policy."
        )
    return "\n\n".join(pieces)


def _opening(report: "ScanReport") -> str:
    if report.enforcement == "off":
        return "This code was not scanned: the policy's enforcement is off."
    name = one_visible_line(report.policy, 80)
    policy = f'The security policy "{name}"' if name else "The security policy"
    if report.blocking and report.enforcement == "enforce":
        first = f"{policy} refused this code. Nothing was run."
    elif report.blocking:
        first = f"{policy} would refuse this code, but is only advice here."
    elif report.findings:
        first = "No finding in this code blocks it."
    else:
        first = "Nothing was found in this code."
    if report.parsed:
        return first
    reason = one_visible_line(report.problem) or "its syntax is wrong"
    if not report.read:
        return f"{first} It was not read: {reason}."
    return (
        f"{first} It could not be read as {_language(report)}: {reason}. There may be more in it "
        "than was found."
    )


def _account(finding: Finding, number: int, *, blocks: bool) -> str:
    """Return a full description of a finding: position, effect, code, reason and fix."""
    verdict = "refused" if blocks else "noticed"
    at = f"Line {finding.line}, column {finding.column}"
    lines = [f"{number}. {at}, {verdict}: {effect_clause(finding)} [{_called(finding)}]"]
    if snippet := one_visible_line(finding.snippet, 200):
        lines.append(f"   Code: {snippet}")
    if finding.why:
        lines.append(f"   Why: {one_visible_line(finding.why)}")
    if finding.fix:
        lines.append(f"   Instead: {one_visible_line(finding.fix)}")
    return "\n".join(lines)


SEVERITY_STYLES = {"high": "bold red", "medium": "yellow", "low": "cyan", "safe": "dim"}
"""Style of rich for each severity."""

_MOST = 100
_COLOURS = {"high": "#b3261e", "medium": "#8a5a00", "low": "#1f6f8b", "safe": "#666666"}


def as_html(report: "ScanReport") -> str:
    """Return a report as an HTML fragment without scripts, styles of its own or links."""
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
    """Return the rich renderable of a report: findings with their code, and the summary."""
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
