"""Results of tests and samples."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, TypeAlias

from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["Integrity", "SampleResult", "TestResult"]

Integrity: TypeAlias = Literal["isolated", "proxy", "inline"]
"""Where a verdict was decided: outside of the candidate's sandbox, with calls into it, or in the
candidate's own process."""


@dataclass(frozen=True, kw_only=True)
class TestResult:
    """Result of one test."""

    __test__ = False

    index: int
    """Position of the test in the sample's tests, from 0."""
    verdict: Verdict
    name: str = ""
    """Name of the test."""
    points: float = 0.0
    """Share of the test's points: 1 if accepted; between for partial points of a checker."""
    time_cpu: float | None = None
    """CPU time of all processes of the test, in seconds; None if it did not run."""
    time_wall: float | None = None
    """Time by the clock, in seconds."""
    memory_peak: int | None = None
    """Largest memory, in bytes; None if not known."""
    memory_source: Literal["cgroup", "rusage", "sampled"] | None = None
    """Who measured it."""
    limit: Literal["cpu", "wall", "idle"] | None = None
    """Which limit a ``TLE`` came from; ``idle`` is waiting without use of the CPU."""
    exit_code: int | None = None
    """Exit code of the program."""
    signal: int | None = None
    """Signal that ended the program."""
    error: str = ""
    """Error in one line, such as ``ZeroDivisionError: division by zero``."""
    difference: Difference | None = None
    """First difference of a wrong answer."""
    stdout_tail: str = ""
    """End of the standard output, at most 2,000 characters."""
    stderr_tail: str = ""
    """End of the standard error, at most 2,000 characters."""
    integrity: Integrity = "isolated"
    hidden: bool = True
    """Whether a model must not see what the test expects."""
    contended: bool = False
    """Whether other work on the machine delayed the run."""
    inferred: bool = False
    """Whether the reason of a memory limit was inferred from an exception."""
    attempts: int = 1
    """Number of runs of the test."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the result of a JSON object made by `SampleResult.to_json`."""
        values = {**data, "verdict": Verdict(data["verdict"])}
        if values.get("difference") is not None:
            values["difference"] = Difference(**values["difference"])
        return cls(**values)


@dataclass(frozen=True, kw_only=True)
class SampleResult:
    """Result of one sample."""

    id: str
    """Id of the sample."""
    task: str | None = None
    """Id of its task."""
    verdict: Verdict
    """That of the first test that is not accepted."""
    score: float | None
    """Score by the policy, from 0 to 1; None if the sandbox failed."""
    tests: tuple[TestResult, ...] = ()
    """Results by test."""
    integrity: Integrity = "isolated"
    """The weakest of the tests'."""
    error: str = ""
    """Error before any test: of the compiler, of the policy, of the sandbox."""
    language: str = "python"
    attempts: int = 1
    """Number of evaluations, more than one after a failure of the sandbox."""
    flaky: bool = False
    """Whether repeated evaluations had different verdicts."""
    verdicts: tuple[Verdict, ...] = ()
    """Verdicts of repeated evaluations."""
    weight: float = 1.0
    worker: str = ""
    """Worker that evaluated it."""
    engine: str = ""
    """Engine and its version."""
    code_sha256: str = ""
    tests_sha256: str = ""
    key: str = ""
    """Hash of everything that the result depends on, by which a run is resumed."""
    time_s: float = 0.0
    """Time of the whole evaluation by the clock, in seconds."""
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every test was accepted."""
        return self.verdict is Verdict.ACCEPTED

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object; see `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the result of a JSON object.

        Raises:
            KeyError: A field is missing.
            TypeError: A field is unknown.
            ValueError: A value is invalid.
        """
        values = dict(data)
        values["verdict"] = Verdict(values["verdict"])
        values["tests"] = tuple(TestResult.from_json(test) for test in values.get("tests", ()))
        values["verdicts"] = tuple(Verdict(code) for code in values.get("verdicts", ()))
        return cls(**values)
