"""Ends the run with a table of what each backend does, so that a skip cannot pass for a pass."""

import pytest

_MARKS = {"passed": "yes", "failed": "FAILED", "skipped": "-", "xfailed": "deviates"}
_WORST_LAST = ("yes", "-", "deviates", "FAILED")

_results: dict[tuple[str, str], str] = {}
_reasons: dict[tuple[str, str], str] = {}


def pytest_collection_modifyitems(items):
    for item in items:
        if hasattr(item.cls, "backend_name"):
            name = "llm_sandbox.backends.local.backend.LocalSandboxWarning"
            item.add_marker(pytest.mark.filterwarnings(f"ignore::{name}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    report = outcome.get_result()
    backend = getattr(item.cls, "backend_name", None)
    if backend is None or (report.when != "call" and report.outcome == "passed"):
        return
    mark = _MARKS["xfailed" if hasattr(report, "wasxfail") else report.outcome]
    behaviour = getattr(item, "originalname", item.name).removeprefix("test_").replace("_", " ")
    before = _results.get((behaviour, backend), "yes")
    _results[behaviour, backend] = max(before, mark, key=_WORST_LAST.index)
    if mark == "-" and isinstance(report.longrepr, tuple):
        _reasons[behaviour, backend] = report.longrepr[2].removeprefix("Skipped: ")
    elif mark == "deviates":
        _reasons[behaviour, backend] = report.wasxfail.removeprefix("reason: ")


def pytest_terminal_summary(terminalreporter):
    if not _results:
        return
    backends = sorted({backend for _, backend in _results})
    behaviours = list(dict.fromkeys(behaviour for behaviour, _ in _results))
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
