"""Verdicts of tests and samples, in the words of contest judges."""

from enum import StrEnum

__all__ = ["Verdict"]


class Verdict(StrEnum):
    """The outcome of a test; a sample has that of its first test that is not `ACCEPTED`."""

    ACCEPTED = "AC"
    """The comparison passed, and the run ended as required."""
    WRONG_ANSWER = "WA"
    """The comparison failed."""
    PRESENTATION = "PE"
    """Equal but for white space, where the checker tells the two apart."""
    TIME_LIMIT = "TLE"
    """CPU time, wall time, or waiting without using the CPU; the test's `limit` says which."""
    MEMORY_LIMIT = "MLE"
    """Memory limit exceeded."""
    OUTPUT_LIMIT = "OLE"
    """Output limit exceeded."""
    RUNTIME_ERROR = "RTE"
    """Exception, signal or exit code."""
    COMPILE_ERROR = "CE"
    """The compiler refused the code; for Python a syntax error."""
    BLOCKED = "SV"
    """A policy refused the code, or the sandbox ended it for a forbidden operation."""
    NO_TESTS = "NT"
    """No test has run, or not all of them; never a success."""
    INFRA_ERROR = "IE"
    """The sandbox failed; never scored."""
    SKIPPED = "SK"
    """Not run, since an earlier test had failed."""

    @property
    def is_scored(self) -> bool:
        """Whether the verdict says something about the code."""
        return self is not Verdict.INFRA_ERROR

    @property
    def words(self) -> str:
        """The verdict in words, such as ``wrong answer``."""
        return self.name.lower().replace("_", " ")
