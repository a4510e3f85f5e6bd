"""First failure of a sample, as its reader may see it."""

import builtins
import re
import signal
from dataclasses import dataclass

from llm_sandbox.evaluation.comparison import Difference
from llm_sandbox.evaluation.quotation import quoted_line
from llm_sandbox.evaluation.results import SampleResult, TestResult
from llm_sandbox.evaluation.verdict import Verdict

__all__ = ["FirstFailure", "first_failure"]

_NAME = re.compile(r"[A-Za-z]+(?=:|$)")
_LONGEST = 300
_EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)


@dataclass(frozen=True, kw_only=True)
class FirstFailure:
    """What went wrong first in a sample."""

    verdict: Verdict
    test: str = ""
    """Name or number of the test; empty if the failure came before any."""
    words: str
    """The failure in one line."""
    difference: Difference | None = None
    """Difference between expected and actual output."""
    stdout: str = ""
    """End of the standard output."""
    stderr: str = ""
    """End of the standard error."""
    is_masked: bool = False
    """Whether something was left out, since the test is hidden."""


def first_failure(result: SampleResult, *, reveal: bool = False) -> FirstFailure | None:
    """Return the first failure of a sample; None if it passed.

    Args:
        result: The sample.
        reveal: Whether hidden tests may be seen. If not, a failure of one has its number, its
            verdict and at most the name of a built-in exception: the program can print its input,
            and put it into messages, exit codes and names of exceptions.
    """
    if result.passed:
        return None
    test = next((one for one in result.tests if one.verdict is not Verdict.ACCEPTED), None)
    if test is None:
        return _before_tests(result, reveal)
    number = f"test {test.index + 1}"
    # In the candidate's process, an open test's output may quote a hidden one.
    is_hidden = test.hidden or (test.integrity == "inline" and any(t.hidden for t in result.tests))
    if is_hidden and not reveal:
        words = _masked_words(test)
        return FirstFailure(verdict=test.verdict, test=number, words=words, is_masked=True)
    return FirstFailure(
        verdict=test.verdict,
        test=f"{number} ({quoted_line(test.name, 100)})" if test.name else number,
        words=_words(test),
        difference=test.difference,
        stdout=test.stdout_tail,
        stderr=test.stderr_tail,
    )


def _before_tests(result: SampleResult, reveal: bool) -> FirstFailure:
    """Return a failure of the compiler, the policy or the sandbox."""
    verdict, error = result.verdict, quoted_line(result.error, _LONGEST)
    # The compiler saw the tests as well, and may have quoted them.
    is_masked = result.integrity == "inline" and verdict.is_scored and not reveal
    if is_masked:
        error = _exception_name(error)
    words = f"{verdict.words}: {error}" if error else verdict.words
    return FirstFailure(verdict=verdict, words=words, is_masked=is_masked)


def _words(test: TestResult) -> str:
    words = _title(test)
    if test.difference is not None:
        words += f" at {quoted_line(test.difference.where, 100)}"
    if test.error:
        words += f": {quoted_line(test.error, _LONGEST)}"
    elif test.signal is not None:
        words += f": {_signal_name(test.signal)}"
    elif test.exit_code:
        words += f": exit code {test.exit_code}"
    return words


def _masked_words(test: TestResult) -> str:
    name = _exception_name(test.error)
    return f"{_title(test)}: {name}" if name else _title(test)


def _title(test: TestResult) -> str:
    kind = f"{test.limit} " if test.verdict is Verdict.TIME_LIMIT and test.limit else ""
    return kind + test.verdict.words


def _exception_name(error: str) -> str:
    found = _NAME.match(error)
    return found[0] if found is not None and found[0] in _EXCEPTIONS else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
