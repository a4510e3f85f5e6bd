"""Handler of R: code and messages of R, parsed."""

from __future__ import annotations

import re
import time

import pytest

from llm_sandbox.language_handlers.r import RHandler

HANDLER = RHandler()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("x <- 1 # one", "x <- 1"),
        ("# all\nx", "\nx"),
        ("x <- '# kept' # gone", "x <- '# kept'"),
        ('x <- "a\\"# kept"', 'x <- "a\\"# kept"'),
        ('x <- r"(# kept "quoted" \\)" # gone', 'x <- r"(# kept "quoted" \\)"'),
        ("x <- R'---[# kept ]' # kept]---' # gone", "x <- R'---[# kept ]' # kept]---'"),
        ('x <- r"{\n# kept\n}"\n# gone', 'x <- r"{\n# kept\n}"\n'),
        ("`a # b` <- 2 # gone", "`a # b` <- 2"),
        ("5 %#% 2", "5 %"),
        ("5 %in% x # gone", "5 %in% x"),
        ("x <- 'two\nlines # kept'\ny # gone", "x <- 'two\nlines # kept'\ny"),
        ('bar"# kept"', 'bar"# kept"'),
        ("x <- 'open # kept", "x <- 'open # kept"),
        ("", ""),
    ],
)
def test_comments(code: str, expected: str) -> None:
    found = HANDLER.filter_comments(code)

    assert found == expected
    assert found.count("\n") == code.count("\n")


@pytest.mark.parametrize(
    "code",
    [
        "library(ggplot2)",
        'library("ggplot2")',
        "suppressMessages(library(ggplot2))",
        "if (require('ggplot2')) 1",
        "library(package = ggplot2)",
        "requireNamespace( 'ggplot2', quietly = TRUE)",
        "x <- ggplot2::qplot(1)",
        "ggplot2 ::: hidden()",
    ],
)
def test_imports(code: str) -> None:
    assert re.search(HANDLER.get_import_patterns("ggplot2"), code, re.MULTILINE)


@pytest.mark.parametrize(
    "code",
    ["library(ggplot2movies)", "my.library(ggplot2)", "ggplot2 <- 1", "xggplot2::a", "library(gg)"],
)
def test_other_code_is_no_import(code: str) -> None:
    assert not re.search(HANDLER.get_import_patterns("ggplot2"), code, re.MULTILINE)


@pytest.mark.parametrize(
    "piece", ['r"(', "'\\", "%%", "library(", '"', "# x", "a::", "Error in : \n"]
)
@pytest.mark.timeout(30)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    def spent(count: int) -> float:
        text = piece * count
        before = time.process_time()
        HANDLER.filter_comments(text)
        re.search(HANDLER.get_import_patterns("ggplot2"), text, re.MULTILINE)
        HANDLER.runtime_error(text, "main.R")
        return time.process_time() - before

    # The least of several: a collection of garbage, or a neighbour, may fall into one of them.
    small, large = (min(spent(count) for _ in range(3)) for count in (4_000, 64_000))
    assert large < 0.2 + small * 16 * 6


@pytest.mark.parametrize(
    ("output", "kind", "value"),
    [
        ("Error in f(3) : boom\nCalls: f\nExecution halted\n", "exception", "boom"),
        ("Error: object 'x' not found\nExecution halted\n", "exception", "object 'x' not found"),
        ("Warning: a\nError in g() : \n  two\nlines\nIn addition: Warning message:\nw\n",
         "exception", "two\nlines"),
        ("Error: unexpected symbol in \"a b\"\nExecution halted\n", "syntax",
         'unexpected symbol in "a b"'),
    ],
)  # fmt: skip
def test_errors_of_programs(output: str, kind: str, value: str) -> None:
    found = HANDLER.runtime_error(output, "main.R")

    assert found is not None
    assert (found.kind, found.value) == (kind, value)


def test_lines_of_programs() -> None:
    output = (
        "Error in f() : a\nTraceback:\n1. f()   # main.R:9\nAt main.R:4: stop()\nExecution halted"
    )
    found = HANDLER.runtime_error(output, "/tmp/x/main.R")
    elsewhere = HANDLER.runtime_error(output, "other.R")

    assert found is not None
    assert (found.value, found.line) == ("a", 4)
    assert elsewhere is not None
    assert elsewhere.line is None


def test_no_error_of_a_program() -> None:
    assert HANDLER.runtime_error("Warning message:\nIn f() : careful\n", "main.R") is None
