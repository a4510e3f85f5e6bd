"""Tables of the steps that real clients took against a server, at the end of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

PROPERTY = "steps of a client"

_steps: dict[str, dict[str, str]] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    for name, value in report.user_properties:
        if name == PROPERTY and report.when == "call":
            client, step, outcome = value
            _steps.setdefault(client, {})[step] = outcome


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _steps:
        return
    clients = sorted(_steps)
    steps = list(dict.fromkeys(step for client in clients for step in _steps[client]))
    width = max(map(len, steps))
    terminalreporter.section("step x client")
    terminalreporter.write_line("  ".join([" " * width, *clients]))
    for step in steps:
        cells = [f"{_steps[client].get(step, ''):<{len(client)}}" for client in clients]
        terminalreporter.write_line("  ".join([f"{step:<{width}}", *cells]).rstrip())
    for client in clients:
        passed = sum(outcome == "yes" for outcome in _steps[client].values())
        terminalreporter.write_line(f"{client}: {passed} of {len(_steps[client])} steps")
