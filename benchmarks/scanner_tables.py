"""Tables of the scanner's figures: on the terminal and in docs/scanner-report.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.table import machine

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["document", "print_all"]

Data = dict[str, Any]
Table = tuple[str, list[str], list[list[str]]]
"""Title, columns, rows."""

OURS = ("production", "named")
RIVALS = ("regex ordinary", "regex strict", "bandit any", "bandit medium", "bandit high")
PRESETS = (
    *("minimal", "development", "educational", "data_science", "web_scraping", "production"),
    "strict",
)

INTRODUCTION = """\
# What the scanner catches, and what it flags wrongly

Written by `make scan-report ARGS=--write`; the numbers are of one run of it ({machine}).
`make scan-report` measures again and prints the same tables, with `ARGS=--techniques` one line for
each technique.

## What these numbers cannot promise

- The scanner was tried on the attacks of the first tables while it was made, and what it missed was
  mended. 100 % of them says that nothing got worse, not that nothing gets through.
- The number to go by is that of the **held-out** techniques: they were written last and without a
  look at the rules, and no rule was changed for them. {heldout}
- Code can always be written so that what it does cannot be known before it runs. The scanner then
  says so (`dynamic.unresolved`, `module.escape`, `introspection`), which is no proof of harm, and a
  program that fetches its code from a file or a socket shows nothing but that it runs text.
- A finding of *can*, not of *does*: `if False: os.system("id")` is found like a call that runs.
- The scan is a signal before the sandbox. The wall is the sandbox.

An attack is *stopped* when a blocking finding stands against it; of what a preset lets through on
purpose (`production` allows `network.web`) the report has to name the capability. *Named* is an
attack whose own capability is among the findings, of whatever severity. A false alarm is an
ordinary program with a blocking finding that is not right: the {expected} programs that truly do
what was found are listed, each with its capability, in `tests/scanner/corpus/expected.toml`; with
those, {strictly} of the ordinary programs are blocked at `production`.

The attacks are {acts} acts in {count} techniques. Each names the audit event by which the
interpreter tells of the act, and was run in a sandbox until that event came. A twin is the same
technique around `math.sqrt` and the like, which was seen to raise no such event.

The rivals: *regex ordinary* refuses dangerous calls and modules by regular expressions, with
comments taken away first; *regex strict* refuses also `os`, `sys`, `getattr`, `open`, dunder names
and the like; *bandit* is its default configuration, with findings of any, at least medium, and high
severity. Bandit is made for reviewing a project's own code and not for this task.
"""


def print_all(data: Data, *, techniques: bool) -> None:
    """Print the tables on the terminal."""
    from rich.console import Console
    from rich.table import Table as RichTable

    console = Console(width=200)
    for title, columns, rows in _tables(data, techniques=techniques):
        table = RichTable(title=title, title_justify="left", title_style="bold")
        for number, column in enumerate(columns):
            table.add_column(column, justify="left" if number == 0 else "right")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    if missed := _not_all(data["known"]):
        console.print(f"not all stopped: {', '.join(missed)}", style="red", markup=False)
    console.print(f"{machine()}; {data['seconds']} s")


def document(data: Data) -> str:
    """Return the report as Markdown."""
    held = data["heldout"]["all"].get("production")
    words = "There are none yet." if held is None else f"It is {_percent(held)} today."
    text = INTRODUCTION.format(
        machine=machine(),
        heldout=words,
        expected=data["expected"],
        strictly=_percent(data["ordinary"]["with expected"]),
        acts=data["acts"],
        count=data["known"]["techniques"],
    )
    parts = [text]
    for title, columns, rows in _tables(data, techniques=False):
        lines = ["| " + " | ".join(columns) + " |"]
        lines.append("| --- |" + " ---: |" * (len(columns) - 1))
        lines += [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows
        ]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    missed = _not_all(data["known"])
    if missed:
        listed = "\n".join(f"- {name}" for name in missed)
        parts.append(f"## Techniques that are not all stopped\n\n{listed}\n")
    return "\n".join(parts)


def _tables(data: Data, *, techniques: bool) -> Iterable[Table]:
    known, held = data["known"], data["heldout"]
    judges = [name for name in (*OURS, *RIVALS) if name in known["all"]]
    columns = ["", "attacks", *("stopped" if j == "production" else j for j in judges)]
    rows = [["known techniques", *_row(known["all"], judges)]]
    if held["all"]:
        rows.append(["held-out techniques", *_row(held["all"], judges)])
    count = known["techniques"]
    yield f"Recall at production ({count} known techniques)", columns, rows
    yield "Recall by capability", columns, _rows(known["capability"], judges)
    yield "Recall by kind of technique", columns, _rows(known["family"], judges)
    if techniques:
        yield "Recall by technique", columns, _rows(known["technique"], judges)
    if held["all"]:
        yield (
            "Recall of held-out techniques by capability",
            columns,
            _rows(held["capability"], judges),
        )
    yield (
        "Blocked by each preset",
        ["", *PRESETS],
        [
            [name, *(_percent(part["all"][preset]) for preset in PRESETS)]
            for name, part in (("known techniques", known), ("held-out techniques", held))
            if part["all"]
        ],
    )
    yield from _alarm_tables(data)
    yield from _time_tables(data)
    yield from _language_tables(data["languages"])
    yield (
        "Where the ordinary programs are from",
        ["origin", "what", "version", "license", "programs"],
        [
            [row["name"], row["what"], row["version"], row["license"], str(row["count"])]
            for row in data["sources"]
        ],
    )


def _alarm_tables(data: Data) -> Iterable[Table]:
    found, twins = data["ordinary"], data["twins"]
    judges = [name for name in (*PRESETS, *RIVALS) if name in found["all"]]
    rows = _rows(found["origin"], judges)
    rows.append(["**all**", *_row(found["all"], judges)])
    yield "False alarms: ordinary programs flagged", ["origin", "programs", *judges], rows
    rules = sorted({rule for counts in found["rules"].values() for rule in counts})
    yield (
        "False alarms by rule: programs",
        ["rule", *PRESETS],
        [[rule, *(str(found["rules"][p].get(rule, 0)) for p in PRESETS)] for rule in rules],
    )
    names = [name for name in twins if name != "count"]
    yield (
        "False alarms: harmless twins of the attacks",
        ["twins", *names],
        [[str(twins["count"]), *(str(twins[name]) for name in names)]],
    )


def _time_tables(data: Data) -> Iterable[Table]:
    found = data["time"]
    rows = [
        [preset, str(row["count"]), f"{row['median']:.2f}", f"{row['p95']:.2f}"]
        for preset, row in found["presets"].items()
    ]
    whole = found["10 KB"]
    rows.append(
        [
            "programs of 8 to 12 KB, production",
            str(whole["count"]),
            f"{whole['median']:.2f}",
            f"{whole['p95']:.2f}",
        ]
    )
    yield "Milliseconds for 10 KB of ordinary code", ["", "programs", "median", "95 %"], rows
    yield (
        "Growth",
        ["code", "characters", "ms", "ms for 10 KB"],
        [
            [
                row["kind"],
                f"{row['size']:,}",
                f"{row['ms']:.1f}",
                f"{row['ms'] * 10_000 / row['size']:.2f}",
            ]
            for row in data["growth"]
        ],
    )


def _language_tables(languages: Sequence[Data]) -> Iterable[Table]:
    rows = []
    for row in languages:
        bad, good = max(1, row["attacks"]), max(1, row["ordinary"])
        cells = [row["name"], row["engine"], str(row["attacks"])]
        cells += [_percent(row["stopped"][p] / bad) for p in ("production", "strict")]
        cells += [_percent(row["named"] / bad), str(row["ordinary"])]
        cells += [_percent(n / good) for n in row["flagged"].values()]
        rows.append([*cells, f"{row['ms']:.2f}"])
    columns = ["language", "engine", "attacks", "stopped", "by strict", "named", "ordinary"]
    columns += ["alarms data_science", "production", "strict", "ms each"]
    yield "Other languages", columns, rows


def _rows(groups: Data, judges: Sequence[str]) -> list[list[str]]:
    return [[name, *_row(row, judges)] for name, row in groups.items()]


def _row(row: Data, judges: Sequence[str]) -> list[str]:
    return [f"{row['count']:,}", *(_percent(row[judge]) for judge in judges)]


def _percent(share: float) -> str:
    # Never rounded up to all, or down to none.
    text = f"{share * 100:.1f}"
    if text == "100.0" and share < 1:
        text = "99.9"
    if text == "0.0" and share > 0:
        text = "< 0.1"
    return f"{text} %"


def _not_all(known: Data) -> list[str]:
    return [
        f"{name} ({_percent(row['production'])} of {row['count']})"
        for name, row in known["technique"].items()
        if row["production"] < 1
    ]
