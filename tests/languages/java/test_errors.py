"""Errors of Java's tools, as data."""

from __future__ import annotations

import pytest

from llm_sandbox.language_handlers.java.errors import read_compiler, read_trace

pytestmark = pytest.mark.timeout(30)

COMPILED = """\
Main.java:3: warning: [removal] stop() in Thread has been deprecated
        t.stop();
         ^
Main.java:7: error: cannot find symbol
\tint x = undefined + 1;
\t        ^
  symbol:   variable undefined
  location: class Main
Main.java:9: error: ';' expected
    int y = 2
             ^
2 errors
1 warning
"""

TRACE = """\
some words of its own
Exception in thread "worker-1" java.lang.IllegalStateException: of a thread
\tat Main.lambda$main$0(Main.java:2)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Exception in thread "main" shop.Refused: first line
second line
\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1511)
\tat shop.Main.inner(Main.java:12)
\tat shop.Main.main(Main.java:30)
Caused by: java.io.IOException: below
\tat shop.Main.inner(Main.java:10)
\t... 1 more
"""


def test_the_first_error_of_the_compiler() -> None:
    error = read_compiler(COMPILED, "Main.java")

    assert error is not None
    assert ("CompileError", "compile") == (error.name, error.kind)
    assert "cannot find symbol: variable undefined" == error.value
    assert (7, 10, None) == (error.line, error.column, error.file)


def test_an_error_in_another_file() -> None:
    error = read_compiler(COMPILED, "Other.java")

    assert error is not None
    assert "Main.java" == error.file


def test_an_error_without_a_place() -> None:
    error = read_compiler("error: invalid flag: -x\nUsage: javac\n", "Main.java")

    assert error is not None
    assert ("invalid flag: -x", None) == (error.value, error.line)


def test_no_error() -> None:
    assert read_compiler("Note: Main.java uses unchecked operations.\n", "Main.java") is None
    assert read_trace("all went well\n", "Main.java") is None


def test_the_main_thread_is_why_a_program_failed() -> None:
    error = read_trace(TRACE, "Main.java")

    assert error is not None
    assert ("shop.Refused", "first line\nsecond line") == (error.name, error.value)
    assert 12 == error.line
    assert ["shop.Main.main", "shop.Main.inner", "java.base/java.util.ArrayList.forEach"] == [
        frame.function for frame in error.frames
    ]
    assert [30, 12, 1511] == [frame.line for frame in error.frames]


def test_what_the_launcher_refuses() -> None:
    error = read_trace("Error: Could not find or load main class X\nCaused by: ...\n", "X.java")

    assert error is not None
    assert "Could not find or load main class X" == error.value
