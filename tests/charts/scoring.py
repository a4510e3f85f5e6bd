"""Score of chart records against the known data of the charts.

``python -m tests.charts.scoring PATH`` runs a case, or a folder of them, and prints the score and
what differs. Charts are matched in order, series by label and then in order.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.charts.cases import CORPUS, Case, Runner, charts_of, find_cases, load_case
from tests.charts.values import compare, difference, plain, same, scale_of, short, size_of

__all__ = ["MEASURES", "Score", "print_table", "score_charts"]

MEASURES = (
    "figures",
    "series",
    "values",
    "kinds",
    "titles",
    "labels",
    "scales",
    "orientation",
    "details",
)
"""What is counted. A series is right when its kind, its label and all its values are; `labels` are
those of axes and series; `details` are ticks, limits, cells of a grid and annotations."""

CAP = 10_000
"""Values in a chart, above which series may be sampled."""


@dataclass
class Score:
    """Counts of what is right, of all that was expected or came."""

    right: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MEASURES, 0))
    total: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MEASURES, 0))
    scripts: int = 0
    once: int = 0
    """Scripts that gave each figure exactly once."""
    mismatches: list[str] = field(default_factory=list)

    def count(self, measure: str, right: int, total: int) -> None:
        """Add to a measure."""
        self.right[measure] += right
        self.total[measure] += total

    def check(self, measure: str, where: str, expected: object, found: object) -> bool:
        """Count one comparison, and note it when it fails."""
        good = bool(expected == found)
        self.count(measure, int(good), 1)
        if not good:
            self.note(f"{where}: {short(found)} instead of {short(expected)}")
        return good

    def note(self, text: str) -> None:
        """Keep a sentence on what differs."""
        self.mismatches.append(text)

    def miss(self, text: str) -> None:
        """Count all as wrong, for the one reason."""
        self.right = dict.fromkeys(MEASURES, 0)
        self.mismatches = [text]

    def share(self, measure: str) -> float:
        """Percent right; 100 when nothing was expected."""
        return 100 * self.right[measure] / self.total[measure] if self.total[measure] else 100.0

    def add(self, other: Score) -> None:
        """Add another's counts."""
        for measure in MEASURES:
            self.count(measure, other.right[measure], other.total[measure])
        self.scripts += other.scripts
        self.once += other.once
        self.mismatches += other.mismatches


def score_charts(
    expected: Sequence[Mapping[str, Any]],
    found: Sequence[Mapping[str, Any]],
    tolerance: float = 1e-9,
) -> Score:
    """Compare the chart records of a script with what it must give."""
    score = Score(scripts=1, once=int(len(expected) == len(found)))
    score.count("figures", min(len(expected), len(found)), max(len(expected), len(found)))
    if len(expected) != len(found):
        score.note(f"{len(found)} charts instead of {len(expected)}")
    _score_each(score, "chart", expected, found, tolerance)
    return score


def _score_each(
    score: Score,
    where: str,
    expected: Sequence[Mapping[str, Any]],
    found: Sequence[Mapping[str, Any]],
    tolerance: float,
) -> None:
    for index, chart in enumerate(expected):
        part = Score()
        missing = index >= len(found)
        known = {} if missing else found[index]
        _score_chart(part, f"{where} {index}", chart, known, tolerance)
        if missing:
            part.miss(f"{where} {index}: missing")
        score.add(part)


def _score_chart(
    score: Score,
    where: str,
    expected: Mapping[str, Any],
    found: Mapping[str, Any],
    tolerance: float,
) -> None:
    for key, measure in _CHART_KEYS.items():
        if key in expected:
            wanted, came = plain(expected[key]), plain(found.get(key))
            if measure == "titles":
                wanted, came = _text(wanted), _text(came)
            score.check(measure, f"{where} {key}", wanted, came)
    for name in ("x", "y", "y2", "z"):
        if name in expected:
            _score_axis(score, f"{where} {name} axis", expected[name], found.get(name))
    more_axes = found.get("more_axes") or {}
    for name in dict.fromkeys([*expected.get("more_axes", {}), *more_axes]):
        axis = expected.get("more_axes", {}).get(name)
        score.check("details", f"{where} has {name} axis", axis is not None, name in more_axes)
        if axis is not None:
            _score_axis(score, f"{where} {name} axis", axis, more_axes.get(name))
    _score_unread(score, f"{where} unread", expected.get("unread", []), found.get("unread") or [])
    if "annotations" in expected:
        score.check(
            "details",
            f"{where} annotations",
            [_text(item["text"]) for item in expected["annotations"]],
            [_text(item.get("text")) for item in found.get("annotations") or []],
        )
    panels = expected.get("charts") or []
    came_panels = found.get("charts") or []
    if "charts" in expected and len(panels) != len(came_panels):
        score.check("details", f"{where} number of panels", len(panels), len(came_panels))
    _score_each(score, f"{where} panel", panels, came_panels, tolerance)
    if "series" in expected:
        _score_all_series(score, where, expected["series"], found.get("series") or [], tolerance)


def _score_unread(score: Score, where: str, expected: Sequence[str], found: Sequence[str]) -> None:
    """Compare what is said not to be known: each phrase expected is a part of one that came."""
    left = list(found)
    for part in expected:
        sentence = next((text for text in left if part in text), None)
        score.check("details", f"{where} {part!r}", True, sentence is not None)
        if sentence is not None:
            left.remove(sentence)
    for text in left:
        score.check("details", f"{where} of what is known", None, text)


_CHART_KEYS = {
    "kind": "kinds",
    "title": "titles",
    "orientation": "orientation",
    "stacking": "orientation",
    "row": "details",
    "column": "details",
    "library": "details",
}


def _score_axis(score: Score, where: str, expected: Any, found: Any) -> None:
    axis = found if isinstance(found, Mapping) else {}
    if expected is None:
        score.check("labels", f"{where} label", None, axis.get("label"))
        return
    for key, value in expected.items():
        wanted, came = plain(value), plain(axis.get(key))
        if key == "label":
            score.check("labels", f"{where} label", _text(wanted), _text(came))
        elif key == "scale":
            score.check("scales", f"{where} scale", wanted, came)
        else:
            right, total = compare(wanted, came, 1e-6, scale_of(wanted))
            score.check("details", f"{where} {key}", total, right)


def _score_all_series(
    score: Score,
    where: str,
    expected: Sequence[Mapping[str, Any]],
    found: Sequence[Mapping[str, Any]],
    tolerance: float,
) -> None:
    fits = sum(size_of(plain(item.get("columns", {}))) for item in expected) <= CAP
    pairs = _match_series(expected, found)
    for index, (item, known) in enumerate(pairs):
        name = f"{where} series {index} {_text(item.get('label')) or ''!r}"
        part = Score()
        _score_series(part, name, item, known or {}, tolerance, fits=fits)
        if known is None:
            part.miss(f"{name}: missing")
        score.add(part)
    taken = [id(known) for _, known in pairs]
    for known in found:
        if id(known) not in taken:
            score.count("series", 0, 1)
            score.note(f"{where}: series {short(known.get('label'))} {known.get('kind')} extra")


def _match_series(
    expected: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    left = list(found)
    chosen: dict[int, Mapping[str, Any]] = {}

    def take(fits: Any) -> None:
        for index, item in enumerate(expected):
            if index in chosen:
                continue
            for place, known in enumerate(left):
                if fits(item, known):
                    chosen[index] = left.pop(place)
                    break

    def equal(key: str) -> Any:
        return lambda item, known: (
            item.get(key) is not None and _text(plain(item[key])) == _text(plain(known.get(key)))
        )

    take(lambda item, known: equal("label")(item, known) and equal("kind")(item, known))
    take(equal("label"))
    take(equal("kind"))
    take(lambda item, known: True)
    return [(item, chosen.get(index)) for index, item in enumerate(expected)]


def _score_series(
    score: Score,
    where: str,
    expected: Mapping[str, Any],
    found: Mapping[str, Any],
    tolerance: float,
    *,
    fits: bool,
) -> None:
    good = bool(found)
    if "kind" in expected:
        good &= score.check("kinds", f"{where} kind", expected["kind"], found.get("kind"))
    if "label" in expected:
        good &= score.check(
            "labels",
            f"{where} label",
            _text(plain(expected["label"])),
            _text(plain(found.get("label"))),
        )
    for key in ("axis", "color", "total"):
        if key in expected:
            score.check("details", f"{where} {key}", expected[key], found.get(key))
    wanted = {name: plain(values) for name, values in expected.get("columns", {}).items()}
    came = plain(found.get("columns")) or {}
    if found.get("sampling") and not fits:
        right, total = _compare_sample(score, where, wanted, found, tolerance)
        score.count("values", right, total)
        good &= right == total
    else:
        for name, values in wanted.items():
            column = came.get(name)
            right, total = compare(values, column, tolerance, scale_of(values))
            score.count("values", right, total)
            if right != total:
                good = False
                score.note(
                    f"{where} {name}: {total - right} of {total} values wrong: "
                    f"{difference(values, column, tolerance)}"
                )
    score.count("series", int(good), 1)


def _compare_sample(
    score: Score,
    where: str,
    wanted: Mapping[str, list[Any]],
    found: Mapping[str, Any],
    tolerance: float,
) -> tuple[int, int]:
    """Compare a sampled series: each row kept must be a row of the whole, in its order."""
    came = {name: plain(found["columns"].get(name)) or [] for name in wanted}
    rows = list(zip(*wanted.values(), strict=False))
    kept = list(zip(*came.values(), strict=False))
    total = max(1, len(kept)) * len(wanted)
    if found.get("total") != len(rows) or not kept or len(kept) < min(len(rows), CAP) // 20:
        score.note(f"{where}: {len(kept)} of {found.get('total')} sampled, of {len(rows)}")
        return 0, total
    scales = [scale_of(values) for values in wanted.values()]
    place, right = 0, 0
    for row in kept:
        for index in range(place, len(rows)):
            parts = zip(rows[index], row, scales, strict=True)
            if all(same(a, b, tolerance, scale) for a, b, scale in parts):
                place, right = index + 1, right + len(wanted)
                break
    for name in ("x", "y"):
        numbers = [v for v in wanted.get(name, ()) if isinstance(v, (int, float))]
        if found["sampling"] == "min-max" and numbers:
            ends = [min(numbers), max(numbers)]
            there = [v for v in came[name] if isinstance(v, (int, float))] or [math.nan]
            score.check("details", f"{where} {name} extremes", ends, [min(there), max(there)])
    if right != total:
        score.note(f"{where}: {(total - right) // len(wanted)} sampled rows are not of the data")
    return right, total


def _text(value: Any) -> str | None:
    return None if value is None else str(value).strip()


_HEADINGS = ("library", "scripts", "once", *MEASURES)


def print_table(scores: Mapping[str, Score]) -> None:
    """Print a line a library, and one for all."""
    everything = Score()
    for score in scores.values():
        everything.add(score)
    print("".join(f"{heading:>12}" for heading in _HEADINGS))
    for name, score in [*scores.items(), ("all", everything)]:
        cells = [name, str(score.scripts), str(score.once)]
        cells += [
            f"{score.right[m]}/{score.total[m]}" if m == "figures" else f"{score.share(m):.2f}%"
            for m in MEASURES
        ]
        print("".join(f"{cell:>12}" for cell in cells))


def _score_case(case: Case, runner: Runner) -> tuple[Score, str]:
    try:
        answer = runner.run(case.program)
    except (TimeoutError, RuntimeError) as error:
        score = score_charts(case.expected, [], case.tolerance)
        return score, f"{type(error).__name__}: {error}"
    score = score_charts(case.expected, charts_of(answer), case.tolerance)
    failed = [name for name in answer["errors"] if name]
    trouble = f"{failed[0]}\n{(answer['stdout'] + answer['stderr'])[-1500:]}" if failed else ""
    return score, trouble


def main() -> int:
    """Score what the arguments name; returns 1 when anything differs."""
    parser = argparse.ArgumentParser(description="score the extraction of charts")
    parser.add_argument("paths", nargs="*", type=Path, default=[CORPUS], help="files or folders")
    parser.add_argument("--cold", action="store_true", help="load no library beforehand")
    parser.add_argument("--most", type=int, default=0, help="mismatches shown a script")
    arguments = parser.parse_args()
    paths = [path for where in arguments.paths for path in find_cases(where.resolve())]
    runner = Runner(set() if arguments.cold else {path.parent.name for path in paths})
    most = arguments.most or (1000 if len(paths) == 1 else 6)
    scores: dict[str, Score] = {}
    bad = 0
    started = time.monotonic()
    try:
        for path in paths:
            try:
                case = load_case(path)
            except Exception as error:  # noqa: BLE001 - a case that is wrong must not stop the rest
                print(f"{path}: {type(error).__name__}: {error}")
                bad += 1
                continue
            score, trouble = _score_case(case, runner)
            scores.setdefault(case.library, Score()).add(score)
            # Some programs fail after they have drawn, and mean to.
            if score.mismatches or (trouble and len(paths) == 1):
                bad += bool(score.mismatches)
                print(f"{case.name}: {trouble}")
                for text in score.mismatches[:most]:
                    print(f"  {text}")
                if len(score.mismatches) > most:
                    print(f"  ... and {len(score.mismatches) - most} more")
    finally:
        runner.close()
    print_table(scores)
    print(f"{len(paths)} scripts, {bad} with differences, {time.monotonic() - started:.1f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
