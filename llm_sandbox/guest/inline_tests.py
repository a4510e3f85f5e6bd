"""Tests that run in the process of the candidate, since they need more of it than its values.

What they report is only as honest as the candidate: it shares their process.
"""

from __future__ import annotations

import os
import sys
import types
import unittest

from . import candidate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_TEXT = 500


def run_asserts(
    namespace: dict[str, Any], source: str, setup: str, entry_point: str | None
) -> None:
    """Run assertions in the candidate's module.

    Args:
        namespace: Namespace of the module.
        source: The assertions, or a function ``check``.
        setup: Code that runs before them.
        entry_point: Name that ``check`` is called with; None for none.

    Raises:
        BaseException: What the assertions raise.
    """
    namespace = dict(namespace)
    exec(compile(setup, "<setup>", "exec", dont_inherit=True), namespace)  # noqa: S102
    exec(compile(source, candidate.TESTS, "exec", dont_inherit=True), namespace)  # noqa: S102
    if entry_point is not None and "check" in namespace:
        if entry_point not in namespace:
            raise NameError(f"name {entry_point!r} is not defined", name=entry_point)
        namespace["check"](namespace[entry_point])


def run_unittest(
    namespace: dict[str, Any], files: dict[str, str], select: list[str], module: str | None
) -> list[list[str]]:
    """Run test cases of unittest.

    Args:
        namespace: Namespace of the candidate's module.
        files: Modules with the test cases, by path.
        select: Names of the test cases or methods to run; empty for all.
        module: Name that the modules import the candidate by; None if they share its namespace.

    Returns:
        Name, outcome (``passed``, ``failed``, ``error`` or ``skipped``) and message of each test.
    """
    suite = unittest.TestSuite()
    loader = unittest.defaultTestLoader
    for path, source in files.items():
        name = os.path.splitext(path)[0].replace("/", ".")
        tests = types.ModuleType(name)
        if module is None:
            vars(tests).update(namespace)
        vars(tests)["__name__"] = name
        sys.modules[name] = tests
        if module is not None:
            sys.modules[module] = sys.modules[candidate.MODULE]
        exec(compile(source, path, "exec", dont_inherit=True), vars(tests))  # noqa: S102
        for value in list(vars(tests).values()):
            is_case = isinstance(value, type) and issubclass(value, unittest.TestCase)
            if is_case and value.__module__ == name:
                suite.addTests(loader.loadTestsFromTestCase(value))
    chosen = [test for test in _cases(suite) if _is_selected(test.id(), select)]
    result = _Result()
    unittest.TestSuite(chosen).run(result)
    return [[name, *found] for name, found in result.outcomes.items()]


class _Result(unittest.TestResult):
    """Result that keeps one outcome and message for each test, the worst."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: dict[str, list[str]] = {}

    def _note(self, test: Any, outcome: str, message: str = "") -> None:
        found = self.outcomes.setdefault(test.id(), [outcome, message])
        if found[0] == "passed":
            found[:] = [outcome, message]

    # The names of unittest.

    def addSuccess(self, test: Any) -> None:
        self._note(test, "passed")

    def addFailure(self, test: Any, err: Any) -> None:
        self._note(test, "failed", _words(err[1]))

    def addError(self, test: Any, err: Any) -> None:
        self._note(test, "error", _words(err[1]))

    def addSkip(self, test: Any, reason: str) -> None:
        self._note(test, "skipped", reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._note(test, "passed")

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._note(test, "failed", "unexpected success")

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._note(test, "failed", _words(err[1]))


def _cases(suite: Any) -> list[Any]:
    found = []
    for item in suite:
        found += _cases(item) if isinstance(item, unittest.TestSuite) else [item]
    return found


def _is_selected(name: str, select: list[str]) -> bool:
    return not select or any(
        name == one or name.endswith(f".{one}") or f".{one}." in name for one in select
    )


def run_pytest(
    namespace: dict[str, Any], files: dict[str, str], select: list[str], module: str | None
) -> list[list[str]]:
    """Run test functions of pytest, without plug-ins and configuration.

    Args:
        namespace: Namespace of the candidate's module.
        files: Modules with the tests, by path.
        select: Names of the tests to run; empty for all.
        module: As for `run_unittest`.

    Returns:
        As `run_unittest`.
    """
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    import pytest

    if module is not None:
        sys.modules[module] = sys.modules[candidate.MODULE]
    for path, source in files.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
    outcomes: dict[str, list[str]] = {}

    class Recorder:
        """Plug-in that keeps the outcome of each test."""

        def pytest_runtest_logreport(self, report: Any) -> None:
            """Keep an outcome."""
            name = report.nodeid
            if report.when == "call" or report.outcome != "passed":
                outcome = report.outcome
                if outcome == "failed" and report.when != "call":
                    outcome = "error"
                outcomes[name] = [outcome, str(getattr(report, "longreprtext", ""))[-_MOST_TEXT:]]

        def pytest_collectreport(self, report: Any) -> None:
            """Keep an error of collection."""
            if report.outcome == "failed":
                outcomes[report.nodeid] = ["error", str(report.longreprtext)[-_MOST_TEXT:]]

    words = ["-q", "-p", "no:cacheprovider", "--rootdir=.", "-c", os.devnull, "--noconftest"]
    words += ["--import-mode=importlib", *files]
    if select:
        words += ["-k", " or ".join(select)]
    pytest.main(words, plugins=[Recorder()])
    return [[name, *found] for name, found in outcomes.items()]


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {candidate.text_of(error)}"[:_MOST_TEXT]
