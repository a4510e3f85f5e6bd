"""Kinds of tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from llm_sandbox.evaluation.comparison import OutputChecker
from llm_sandbox.evaluation.value_comparison import ValueChecker

__all__ = [
    "KINDS",
    "AssertTest",
    "CallTest",
    "CheckerTest",
    "CommandTest",
    "InteractiveTest",
    "StdioTest",
    "Test",
    "UnitTest",
]


@dataclass(frozen=True, kw_only=True)
class Test:
    """Base of all kinds of tests."""

    __test__: ClassVar[bool] = False  # pytest collects classes of this name otherwise

    kind: ClassVar[str]
    """Name of the kind, as in files of samples."""

    name: str = ""
    """Name in reports; empty for the index."""
    weight: float = 1.0
    """Share in the score ``weighted``."""
    group: str = ""
    """Group in the score ``groups``, whose points are those of its worst test."""
    hidden: bool = True
    """Whether a model must not see what the test expects."""


@dataclass(frozen=True)
class StdioTest(Test):
    """Run of the program with an input, whose output is compared.

    Args:
        stdin: Standard input.
        expected: Expected standard output.
        checker: Name of a checker with its options, such as ``tokens_float(rel=1e-9)``, or a
            function.
        args: Arguments of the program.
        files: Files in the working directory, by relative path.
    """

    kind: ClassVar[str] = "stdio"

    stdin: str | bytes = ""
    expected: str | bytes = ""
    checker: str | OutputChecker = "tokens"
    args: Sequence[str] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class CallTest(Test):
    """Call of a function of the candidate, whose value is compared.

    Args:
        fn: Name of a function, or a method of an instance without arguments:
            ``Solution().solve``.
        args: Positional arguments: plain data, arrays and tables.
        kwargs: Keyword arguments.
        expected: Expected value.
        checker: ``equal`` with its options, or a function.
    """

    kind: ClassVar[str] = "call"

    fn: str
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    expected: Any = None
    checker: str | ValueChecker = "equal"


@dataclass(frozen=True)
class AssertTest(Test):
    """Assertions about the candidate, as Python code.

    Args:
        source: The code: ``assert`` statements, or a function ``check(candidate)``.
        entry_point: Name that ``check`` is called with; None for code that only asserts.
        setup: Code that runs before `source`, without the candidate.
        mode: ``proxy`` runs the assertions in a sandbox of their own, in which the candidate's
            names are calls into its sandbox; ``inline`` runs them in the candidate's process;
            ``auto`` takes ``proxy`` where it can.
    """

    kind: ClassVar[str] = "assert"

    source: str
    entry_point: str | None = None
    setup: str = ""
    mode: Literal["auto", "proxy", "inline"] = "auto"


@dataclass(frozen=True)
class UnitTest(Test):
    """Modules of unittest or pytest, run in the candidate's process.

    Args:
        files: The modules by relative path.
        select: Names of the test cases to run; empty for all.
        framework: ``unittest`` or ``pytest``.
        module: Name that the modules import the candidate by; None to run the candidate's code in
            the first module, before the tests.
    """

    kind: ClassVar[str] = "unit"

    files: Mapping[str, str]
    select: Sequence[str] = ()
    framework: Literal["unittest", "pytest"] = "unittest"
    module: str | None = None


@dataclass(frozen=True)
class CheckerTest(Test):
    """Run of the program with an input, whose output is judged by a checker.

    Args:
        checker: Function on input, output and answer (all bytes) that returns a verdict's code, a
            share of the points or a boolean; or the source of a program in the manner of testlib,
            started with the paths of these three: exit code 0 is accepted, 1 wrong, 2 wrong
            presentation, 3 a failure of the checker, 7 partial points.
        stdin: Standard input.
        answer: Answer of the reference solution, for the checker.
        language: Language of a program.
        args: Arguments of the candidate.
        files: Files in the candidate's working directory.
    """

    kind: ClassVar[str] = "checker"

    checker: str | Callable[[bytes, bytes, bytes], str | float | bool]
    stdin: str | bytes = ""
    answer: str | bytes = ""
    language: str = "python"
    args: Sequence[str] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class InteractiveTest(Test):
    """Dialogue of the program with an interactor, each in a sandbox of its own.

    Args:
        interactor: Source of the interactor, whose standard streams are crossed with those of the
            program; its exit codes are those of a checker's program.
        input: Content of the file whose path is the interactor's first argument.
        language: Language of the interactor.
    """

    kind: ClassVar[str] = "interactive"

    interactor: str
    input: str | bytes = ""
    language: str = "python"


@dataclass(frozen=True)
class CommandTest(Test):
    """Run of a command beside the candidate's files.

    Args:
        argv: The command.
        expect_exit: Exit code of a success.
        junit: Path of the JUnit XML file that the command writes, relative to the working
            directory; each of its cases must have passed. None for the exit code alone.
        files: Files of the test, written over those of the candidate before the run.
    """

    kind: ClassVar[str] = "command"

    argv: Sequence[str]
    expect_exit: int = 0
    junit: str | None = None
    files: Mapping[str, str | bytes] = field(default_factory=dict)


KINDS: TypeAlias = (
    StdioTest | CallTest | AssertTest | UnitTest | CheckerTest | InteractiveTest | CommandTest
)
