"""Errors of Go's toolchain and its programs, as data."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.language_handlers.go import GoHandler

HANDLER = GoHandler()
FILE = "/tmp/.llm-sandbox-0123456789abcdef/main.go"

CASES = tomllib.loads(Path(__file__).with_name("errors.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["compile"].values(), ids=CASES["compile"])
def test_compile_errors(case: dict[str, Any]) -> None:
    error = HANDLER.compile_error(case["output"], FILE)

    assert error is not None
    assert (case["file"], case["value"]) == (error.file, error.value)
    assert (case.get("line"), case.get("column")) == (error.line, error.column)
    assert "compile" == error.kind


@pytest.mark.parametrize("case", CASES["run"].values(), ids=CASES["run"])
def test_runtime_errors(case: dict[str, Any]) -> None:
    error = HANDLER.runtime_error(case["output"], FILE)

    assert error is not None
    assert (case["name"], case["value"]) == (error.name, error.value)
    assert (case.get("line"), "exception") == (error.line, error.kind)


def test_frames_are_those_of_the_goroutine() -> None:
    """The trace of the goroutine that ended the program, outermost first."""
    trace = (
        "panic: boom\n\ngoroutine 7 [running]:\n"
        "main.(*Stack[...]).Pop(0xc000012345, {0x1, 0x2})\n\t/sandbox/main.go:12 +0x1d\n"
        "main.main.func1()\n\t/sandbox/main.go:20 +0x1d\n"
        "created by main.main in goroutine 1\n\t/sandbox/main.go:19 +0x2\n\n"
        "goroutine 1 [select (no cases)]:\nmain.main()\n\t/sandbox/main.go:22 +0x7e\n"
    )
    error = HANDLER.runtime_error(trace, FILE)

    assert error is not None
    assert [
        ("main.main", 19),
        ("main.main.func1", 20),
        ("main.(*Stack[...]).Pop", 12),
    ] == [(frame.function, frame.line) for frame in error.frames]
    assert {"main.go"} == {frame.file for frame in error.frames}


@pytest.mark.parametrize(
    "output", ["", "2026/11/22 13:11:54 no way\n", "panic: said, not done\n", "exit status 2\n"]
)
def test_words_that_are_no_error(output: str) -> None:
    assert HANDLER.runtime_error(output, FILE) is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    [
        "a.go:1:",
        "./main.go:1:1: x\n\t",
        "# x\n",
        "panic: ",
        "panic: x\n",
        "\n\ngoroutine 1 ",
        "panic: x\n\ngoroutine 1 [r]:\nmain.f(\n",
        "\n[signal ",
        "f((((\n\t/a.go:1\n",
        " [recovered]\n\tpanic: ",
    ],
)
def test_reading_takes_no_longer_than_reading(piece: str) -> None:
    """What a hostile program writes is read in a time that grows with its length alone."""
    output = "panic: x\n\ngoroutine 1 [running]:\n" * (piece[0] == "f") + piece * (
        60_000 // len(piece)
    )
    started = time.process_time()
    HANDLER.compile_error(output, FILE)
    HANDLER.runtime_error(output, FILE)

    assert time.process_time() - started < 5
