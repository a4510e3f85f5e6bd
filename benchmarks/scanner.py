"""Recall and false alarms of the scanner: ``python -m benchmarks.scanner``.

``--write`` puts the tables into docs/scanner-report.md, ``--techniques`` prints one line for each
technique, ``--json FILE`` keeps the numbers. Ordinary programs are fetched by pip the first time.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.scanner_rivals import bandit, expressions
from benchmarks.scanner_tables import document, print_all
from llm_sandbox.security.scanner import scan
from tests.scanner.corpus.acts import ACTS
from tests.scanner.corpus.benign import Program, expected, fetched, ours
from tests.scanner.corpus.fetching import FetchError, origins
from tests.scanner.corpus.languages import OTHERS, attacks_of, heldout, ordinary_of
from tests.scanner.corpus.marking import alarms, is_named, scan_snippet, stops, twin_alarms
from tests.scanner.corpus.snippets import Snippet, attacks, twins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from llm_sandbox.security.presets import PolicyPreset

Data = dict[str, Any]
PRESETS: tuple[PolicyPreset, ...] = (
    "minimal",
    "development",
    "educational",
    "data_science",
    "web_scraping",
    "production",
    "strict",
)
REPORT = Path(__file__).parent.parent / "docs" / "scanner-report.md"
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def main() -> int:
    """Measure, print, and write; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scanner", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.name}")
    parser.add_argument("--techniques", action="store_true", help="print every technique")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers")
    chosen = parser.parse_args()
    started = time.monotonic()
    try:
        ordinary = [*fetched(), *ours()]
    except FetchError as error:
        print(f"only our own ordinary programs: {error}", file=sys.stderr)
        ordinary = list(ours())
    data: Data = {
        "known": recall(attacks()),
        "heldout": recall(heldout()),
        "twins": false_alarms_of_twins(),
        "ordinary": false_alarms(ordinary),
        "time": times(ordinary),
        "growth": growth(ordinary),
        "languages": [language(name) for name in OTHERS],
        "sources": sources(ordinary),
        "expected": len(expected()),
        "acts": len(ACTS),
    }
    data["seconds"] = round(time.monotonic() - started)
    print_all(data, techniques=chosen.techniques)
    if chosen.json:
        chosen.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    if chosen.write:
        REPORT.write_text(document(data), encoding="utf-8")
    return 0


def recall(snippets: Sequence[Snippet]) -> Data:
    """Return how many attacks each scanner catches, in all, by capability and by family."""
    judges: dict[str, list[bool]] = {"named": []}
    for preset in PRESETS:
        judges[preset] = []
    for snippet in snippets:
        named = False
        for preset in PRESETS:
            report = scan_snippet(snippet, preset)
            judges[preset].append(
                stops(report, snippet.capability)
                if preset == "production"
                else bool(report.blocking)
            )
            named = named or is_named(snippet, report)
        judges["named"].append(named)
    for level in ("ordinary", "strict"):
        judges[f"regex {level}"] = [expressions(s.code, level) for s in snippets]
    worst = bandit([s.code for s in snippets]) if snippets else None
    if worst is not None:
        for least, name in ((1, "any"), (2, "medium"), (3, "high")):
            judges[f"bandit {name}"] = [value >= least for value in worst]
    groups: dict[str, Callable[[Snippet], str]] = {
        "capability": lambda snippet: snippet.capability,
        "family": lambda snippet: family(snippet.technique),
        "technique": lambda snippet: snippet.technique,
    }
    return {
        "count": len(snippets),
        "techniques": len({snippet.technique for snippet in snippets}),
        "all": _shares(judges, [""] * len(snippets)).get("", {}),
        **{name: _shares(judges, [key(s) for s in snippets]) for name, key in groups.items()},
    }


def family(technique: str) -> str:
    """Return the kind of a technique."""
    from tests.scanner.corpus.techniques import families

    return families().get(technique) or {
        "import": "module's name spelled",
        "attribute": "attribute's name spelled",
        "program": "program spelled and run",
        "notebook": "IPython syntax",
    }.get(technique.partition(":")[0].partition("-")[0], "other")


def _shares(judges: dict[str, list[bool]], keys: Iterable[str]) -> dict[str, dict[str, float]]:
    places = defaultdict(list)
    for number, key in enumerate(keys):
        places[key].append(number)
    return {
        key: {
            "count": len(numbers),
            **{name: sum(hits[n] for n in numbers) / len(numbers) for name, hits in judges.items()},
        }
        for key, numbers in sorted(places.items())
    }


def false_alarms_of_twins() -> Data:
    """Return how many harmless programs of an attack's shape are flagged."""
    found = {
        preset: sum(bool(twin_alarms(twin, scan_snippet(twin, preset))) for twin in twins())
        for preset in ("data_science", "production")
    }
    rivals = {
        f"regex {level}": sum(expressions(twin.code, level) for twin in twins())
        for level in ("ordinary", "strict")
    }
    return {"count": len(twins()), **found, **rivals}


def false_alarms(programs: Sequence[Program]) -> Data:
    """Return the share of ordinary programs that each scanner flags, and by which rule."""
    flagged: dict[str, list[bool]] = {}
    rules: dict[str, Counter[str]] = {}
    for preset in PRESETS:
        found = [alarms(program, preset) for program in programs]
        flagged[preset] = [bool(findings) for findings in found]
        rules[preset] = Counter(
            category for findings in found for category in {f.category for f in findings}
        )
    for level in ("ordinary", "strict"):
        flagged[f"regex {level}"] = [
            any(expressions(cell, level) for cell in program.cells) for program in programs
        ]
    texts = [plain(program) for program in programs]
    worst = bandit(texts)
    if worst is not None:
        for least, name in ((1, "any"), (2, "medium"), (3, "high")):
            flagged[f"bandit {name}"] = [value >= least for value in worst]
    blocked = [any(scan_cells(program, "production")) for program in programs]
    return {
        "count": len(programs),
        "with expected": sum(blocked) / len(programs),
        "all": _shares(flagged, [""] * len(programs)).get("", {}),
        "origin": _shares(flagged, [program.origin for program in programs]),
        "rules": {preset: dict(counts.most_common()) for preset, counts in rules.items()},
    }


def scan_cells(program: Program, preset: PolicyPreset) -> list[bool]:
    """Return for each cell of a program whether it is blocked."""
    notebook = program.notebook
    return [not scan(cell, policy=preset, notebook=notebook).is_safe for cell in program.cells]


def plain(program: Program) -> str:
    """Return a program as one plain text: for a notebook what IPython makes of its cells."""
    if not program.notebook:
        return program.cells[0]
    from IPython.core.inputtransformer2 import TransformerManager

    manager = TransformerManager()
    return "\n".join(manager.transform_cell(cell) for cell in program.cells)


def times(programs: Sequence[Program]) -> Data:
    """Return milliseconds for each 10 KB of code, by preset, over programs of at least 2 KB."""
    cells = [cell for program in programs for cell in program.cells if len(cell) >= 2000][::3]
    whole = [cell for cell in cells if 8_000 <= len(cell) <= 12_000]
    found = {
        preset: _per_10_kb(cells, preset) for preset in ("data_science", "production", "strict")
    }
    return {"count": len(cells), "presets": found, "10 KB": _per_10_kb(whole, "production")}


def _per_10_kb(cells: Sequence[str], preset: PolicyPreset) -> Data:
    taken = []
    for cell in cells:
        started = time.perf_counter()
        scan(cell, "python", preset)
        taken.append((time.perf_counter() - started) * 1e3 * 10_000 / len(cell))
    if len(taken) < 2:
        return {"count": len(taken), "median": 0.0, "p95": 0.0}
    cuts = statistics.quantiles(taken, n=20)
    return {"count": len(taken), "median": statistics.median(taken), "p95": cuts[-1]}


def growth(programs: Sequence[Program]) -> list[Data]:
    """Return the milliseconds that 1 KB to 1 MB of ordinary code, and of attacks, take."""
    texts = {
        "ordinary": "".join(program.cells[0] for program in programs if not program.notebook),
        "attacks": "\n".join(snippet.code for snippet in attacks() if not snippet.notebook),
    }
    rows = []
    for kind, text in texts.items():
        lines = text.splitlines(keepends=True)
        for size in SIZES:
            code = _functions(lines, size)
            best = min(_seconds(code) for _ in range(3 if size < SIZES[-1] else 1))
            rows.append({"kind": kind, "size": len(code), "ms": best * 1e3})
    return rows


def _functions(lines: Sequence[str], size: int) -> str:
    # Complete statements only, so that the whole can be read as a program.
    import ast

    code, pending = [], ""
    length = 0
    for line in lines:
        if pending and not line[:1].isspace() and line.strip():
            try:
                ast.parse(pending)
            except (SyntaxError, ValueError):
                if len(pending) > 2_000:
                    pending = ""
            else:
                code.append(pending)
                length += len(pending)
                pending = ""
                if length >= size:
                    break
        pending += line
    while code and length < size:
        code += code
        length *= 2
    return "".join(code)


def _seconds(code: str) -> float:
    started = time.perf_counter()
    scan(code, "python", "production")
    return time.perf_counter() - started


def language(name: str) -> Data:
    """Return recall and false alarms of another language's corpus."""
    bad, good = attacks_of(name), ordinary_of(name)
    policies: tuple[PolicyPreset, ...] = ("data_science", "production", "strict")
    stopped = dict.fromkeys(policies, 0)
    flagged = dict.fromkeys(policies, 0)
    named = scans = 0
    engine = ""
    started = time.perf_counter()
    for policy in policies:
        for capability, code in bad:
            report = scan(code, name, policy)
            scans += 1
            told = any(finding.category == capability for finding in report.findings)
            stopped[policy] += stops(report, capability)
            named += told and policy == "strict"
            engine = report.engine
        for code in good:
            scans += 1
            flagged[policy] += bool(scan(code, name, policy).blocking)
    return {
        "name": name,
        "engine": engine,
        "attacks": len(bad),
        "ordinary": len(good),
        "named": named,
        "stopped": stopped,
        "flagged": flagged,
        "ms": (time.perf_counter() - started) * 1e3 / max(1, scans),
    }


def sources(programs: Sequence[Program]) -> list[Data]:
    """Return the origins of the ordinary programs."""
    counts = Counter(program.origin for program in programs)
    rows = [
        {"name": o.name, "version": o.version, "license": o.license, "what": o.what}
        for o in origins()
    ]
    own = {"charts": "programs of the chart tests", "examples": "examples"}
    rows += [
        {"name": name, "version": "here", "license": "MIT", "what": what}
        for name, what in own.items()
    ]
    return [{**row, "count": counts[row["name"]]} for row in rows]


if __name__ == "__main__":
    sys.exit(main())
