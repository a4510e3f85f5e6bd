"""Table of the results: on the terminal and in `docs/benchmarks.md`."""

import datetime
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.race import Row, Samples

__all__ = ["Line", "machine", "markdown", "print_table", "write_page"]

_PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
_BLOCK = re.compile(r"(<!-- bench:start -->\n).*?(<!-- bench:end -->)", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """Row with its measurements."""

    row: Row
    ours: Samples
    other: Samples | None

    @property
    def ratio(self) -> float | None:
        """Ratio of the other's value to ours; for a ``share``, the inverse."""
        if self.other is None:
            return None
        above, below = self.other.median, self.ours.median
        if self.row.target is not None and self.row.target.kind == "share":
            above, below = below, above
        return above / below if below else None

    @property
    def verdict(self) -> str:
        """Return ``ok``, ``short``, or nothing without a target."""
        target = self.row.target
        if target is None:
            return ""
        if target.kind == "below":
            return "ok" if self.ours.median <= target.value else "short"
        ratio = self.ratio or 0.0
        met = ratio >= target.value if target.kind == "times" else ratio <= target.value
        return "ok" if met else "short"

    def cells(self) -> list[str]:
        """Return the texts of the columns."""
        row, target = self.row, self.row.target
        wanted = ""
        if target is not None:
            amount = (
                _amount(target.value, row.unit) if target.kind == "below" else f"{target.value:g}x"
            )
            wanted = f"{'≥' if target.kind == 'times' else '≤'} {amount}"
        ratio = self.ratio
        return [
            row.title,
            row.compared_with if self.other is not None else "",
            _spread(self.ours, row.unit),
            _spread(self.other, row.unit) if self.other is not None else "",
            "" if ratio is None else f"{ratio:.3g}x" if ratio < 100 else f"{ratio:.0f}x",
            wanted,
            self.verdict,
        ]

    def to_dict(self) -> dict[str, object]:
        """Return the line as JSON types, with every sample."""
        target = self.row.target
        return {
            "title": self.row.title,
            "compared_with": self.row.compared_with,
            "unit": "s" if self.row.unit == "ms" else "MB",
            "ours": self.ours.values,
            "other": None if self.other is None else self.other.values,
            "ratio": self.ratio,
            "target": None if target is None else {"kind": target.kind, "value": target.value},
            "verdict": self.verdict,
        }


_HEADINGS = ["path", "compared with", "ours", "theirs", "ratio", "target", ""]


def _amount(value: float, unit: str) -> str:
    shown = value * 1000 if unit == "ms" else value
    return f"{shown:.3g} {unit}" if shown < 999.5 else f"{shown:,.0f} {unit}"


def _spread(samples: Samples, unit: str) -> str:
    least, most = samples.spread
    ends = f"{_amount(least, unit)} - {_amount(most, unit)}".replace(f" {unit}", "")
    return f"{_amount(samples.median, unit)} ({ends})"


def print_table(lines: list[Line], console: Console) -> None:
    """Print the lines: medians, with the least and the greatest in brackets."""
    table = Table(title="medians (least - greatest)", title_justify="left")
    for index, heading in enumerate(_HEADINGS):
        table.add_column(heading, justify="left" if index < 2 else "right")
    for line in lines:
        cells = line.cells()
        style = {"ok": "green", "short": "red"}.get(line.verdict, "")
        table.add_row(*cells[:-1], f"[{style}]{cells[-1]}[/]" if style else cells[-1])
    console.print(table)


def machine() -> str:
    """Return a description of the machine, in a line."""
    cores = len(os.sched_getaffinity(0))
    system = f"Linux {platform.release()}, Python {platform.python_version()}"
    return f"{cores} cores ({platform.machine()}), {system}"


def markdown(lines: list[Line], command: str) -> str:
    """Return the lines as Markdown, with their time, machine and conditions."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    rows = [_HEADINGS, ["---", "---", "---:", "---:", "---:", "---:", "---"]]
    rows += [line.cells() for line in lines]
    body = "\n".join("| " + " | ".join(cells) + " |" for cells in rows)
    return f"{body}\n\nMedians (least - greatest) of `{command}` on {today}: {machine()}.\n"


def write_page(text: str, path: Path = _PAGE) -> None:
    """Replace the table of the page.

    Raises:
        ValueError: The page has no marks for it.
    """
    before = path.read_text()
    after, count = _BLOCK.subn(lambda match: match[1] + text + match[2], before)
    if count != 1:
        raise ValueError(f"{path} has no lines <!-- bench:start --> and <!-- bench:end -->")
    path.write_text(after)
