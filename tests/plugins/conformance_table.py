"""Table of each backend's results at the end of a run, so that a skip cannot pass for a pass.

It is printed by the controlling process, and so is one table for any number of workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_MARKS = {"passed": "yes", "failed": "FAILED", "skipped": "-", "xfailed": "deviates"}
_WORST_LAST = ("yes", "-", "deviates", "FAILED")
_PROPERTY = "backend of the conformance suite"

_results: dict[tuple[str, str], str] = {}
_reasons: dict[tuple[str, str], str] = {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # Given by the suites' bases and by nothing else; languages have a table of their own.
        cls = getattr(item, "cls", None)
        backend = getattr(cls, "backend_name", None)
        if backend is not None and not hasattr(cls, "samples_place"):
            item.user_properties.append((_PROPERTY, backend))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    backend = dict(report.user_properties).get(_PROPERTY)
    if backend is None or (report.when != "call" and report.outcome == "passed"):
        return
    mark = _MARKS["xfailed" if hasattr(report, "wasxfail") else report.outcome]
    name = report.nodeid.rpartition("::")[2].partition("[")[0]
    behaviour = name.removeprefix("test_").replace("_", " ")
    before = _results.get((behaviour, backend), "yes")
    _results[behaviour, backend] = max(before, mark, key=_WORST_LAST.index)
    if mark == "-" and isinstance(report.longrepr, (tuple, list)):
        _reasons[behaviour, backend] = str(report.longrepr[2]).removeprefix("Skipped: ")
    elif mark == "deviates":
        _reasons[behaviour, backend] = report.wasxfail.removeprefix("reason: ")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _results:
        return
    backends = sorted({backend for _, backend in _results})
    # Several processes report in any order.
    behaviours = sorted({behaviour for behaviour, _ in _results})
    width = max(map(len, behaviours))
    terminalreporter.section("behaviour x backend")
    terminalreporter.write_line("  ".join([" " * width, *(f"{name:<10}" for name in backends)]))
    for behaviour in behaviours:
        cells = [_results.get((behaviour, backend), "") for backend in backends]
        terminalreporter.write_line(
            "  ".join([f"{behaviour:<{width}}", *(f"{cell:<10}" for cell in cells)]).rstrip()
        )
    terminalreporter.write_line("")
    for reason in sorted(set(_reasons.values())):
        count = sum(1 for other in _reasons.values() if other == reason)
        terminalreporter.write_line(f"{count:>4} not shown: {reason}")
