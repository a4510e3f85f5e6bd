"""Errors of g++ and its programs, as data."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.language_handlers.cpp import CppHandler

HANDLER = CppHandler()
FILE = "/tmp/.llm-sandbox-0123456789abcdef/main.cpp"

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


@pytest.mark.parametrize("output", ["", "warning: nothing\n", "usage: main FILE\n", "1:2: error\n"])
def test_words_that_are_no_error(output: str) -> None:
    assert HANDLER.compile_error(output, FILE) is None
    assert HANDLER.runtime_error(output, FILE) is None


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["a:1:", "main.cpp:1:1: ", "ld: ", ": ", "(.text", "terminate called ", "Assertion `", "x\n"],
)
def test_reading_takes_no_longer_than_reading(piece: str) -> None:
    """What a hostile program writes is read in a time that grows with its length alone."""
    output = piece * (60_000 // len(piece))
    started = time.process_time()
    HANDLER.compile_error(output, FILE)
    HANDLER.runtime_error(output, FILE)

    assert time.process_time() - started < 5
