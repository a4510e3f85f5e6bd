"""Contract of graders, and the registry of them by kind of test."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar, runtime_checkable

from llm_sandbox.backends.base import Backend
from llm_sandbox.evaluation.judging import Grade
from llm_sandbox.evaluation.kinds import Test
from llm_sandbox.evaluation.sample_runner import Candidate, SampleRunner
from llm_sandbox.exceptions import SandboxError, ValidationError

__all__ = [
    "ENTRY_POINTS",
    "Grader",
    "GraderFailedError",
    "GradingContext",
    "ToolSandboxes",
    "call_checker",
    "find_grader",
    "register",
]

_Answer = TypeVar("_Answer")


ENTRY_POINTS = "llm_sandbox.graders"
"""Group of entry points: the name of an entry is a kind of test, its object a `Grader`."""

_MOST_TOOLS = 4
_TOOL_USES = 200


class ToolSandboxes:
    """Sandboxes of one thread, each for one program, and each ended after some uses.

    Args:
        backend: Backend of the sandboxes.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._runners: OrderedDict[str, tuple[SampleRunner, int]] = OrderedDict()

    def get(self, code: Candidate) -> SampleRunner:
        """Return the sandbox of a program."""
        key = f"{code.handler.name} {code.limits} {code.setup}\0{code.code}"
        runner, uses = self._runners.pop(key, (None, 0))
        if runner is not None and uses >= _TOOL_USES:
            runner.close()
            runner = None
        if runner is None:
            runner, uses = SampleRunner(self._backend, code), 0
        self._runners[key] = (runner, uses + 1)
        while len(self._runners) > _MOST_TOOLS:
            self._runners.popitem(last=False)[1][0].close()
        return runner

    def close(self) -> None:
        """End all sandboxes."""
        runners, self._runners = self._runners, OrderedDict()
        for runner, _ in runners.values():
            runner.close()


class GradingContext:
    """What a grader has beside the candidate: sandboxes for code of its own.

    Args:
        backend: Backend of the sandboxes.
        tools: Runners of code that belongs to tests, kept between samples.
    """

    def __init__(self, backend: Backend, tools: Callable[[Candidate], SampleRunner]) -> None:
        self.backend = backend
        self._tools = tools

    def tool(self, code: Candidate) -> SampleRunner:
        """Return a runner of a test's own code, such as a checker.

        It is another sandbox than the candidate's, kept for the next test that needs the same code.
        """
        return self._tools(code)


@runtime_checkable
class Grader(Protocol):
    """Grader of one kind of tests."""

    def grade(self, test: Any, runner: SampleRunner, context: GradingContext) -> Grade:
        """Run a test and grade it.

        Args:
            test: The test, of the grader's kind.
            runner: Runner of the candidate.
            context: Sandboxes for the grader's own code.

        Raises:
            CompileFailed: The candidate does not compile.
            GraderFailedError: The test's own code failed.
            SandboxError: A sandbox failed; the test is tried again elsewhere.
        """


class GraderFailedError(SandboxError):
    """Failure of the code that belongs to a test, which says nothing about the candidate."""


def call_checker(checker: Callable[..., _Answer], *args: object) -> _Answer:
    """Return what a checker says.

    Raises:
        GraderFailedError: It raised an exception.
    """
    try:
        return checker(*args)
    except Exception as error:
        raise GraderFailedError(
            f"the checker raised {type(error).__name__}: {error}", op="evaluate"
        ) from error


_own: dict[str, Callable[[], Grader]] = {}


def register(kind: str) -> Callable[[Callable[[], Grader]], Callable[[], Grader]]:
    """Register a class as the grader of a kind of tests; an entry point does the same."""

    def add(make: Callable[[], Grader]) -> Callable[[], Grader]:
        _own[kind] = make
        return make

    return add


@cache
def _installed() -> dict[str, Callable[[], Grader]]:
    return {entry.name: entry.load() for entry in entry_points(group=ENTRY_POINTS)}


def find_grader(test: Test) -> Grader:
    """Return the grader of a test.

    Raises:
        ValidationError: There is none for its kind.
    """
    from llm_sandbox.evaluation import graders  # noqa: F401 - registers those of this package

    make = _own.get(test.kind) or _installed().get(test.kind)
    if make is None:
        kinds = ", ".join(sorted({*_own, *_installed()}))
        raise ValidationError(
            f"invalid kind of test: expected one of {kinds}, got {test.kind!r}",
            parameter="tests",
            hint=f"a grader is found by an entry point of the group {ENTRY_POINTS}",
        )
    return make()
