"""Every program of the corpus gives the plots its header names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.py"))


def header(text: str, name: str) -> str | None:
    """Read one header line."""
    match = re.search(rf"^# {name}: ?(.*)$", text, re.MULTILINE)
    return match[1].strip() if match else None


def test_corpus_is_complete() -> None:
    assert len(CORPUS) >= 40


@pytest.mark.sampled
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_program(zygote: Any, plots: Any, path: Path) -> None:
    text = path.read_text()
    expected = [item.strip() for item in (header(text, "expect") or "").split(",") if item.strip()]
    answer = zygote.run(*re.split(r"(?m)^# %%.*\n", text))
    assert plots(answer) == expected
    error = header(text, "error")
    assert [name for name in answer["errors"] if name] == ([error] if error else [])
    wanted = header(text, "stderr")
    if wanted:
        lines = [line for line in answer["stderr"].splitlines() if wanted in line]
        assert len(lines) == 1, answer["stderr"]
        assert answer["stderr"].count("\n") == 1
    else:
        assert answer["stderr"] == ""
    if error is None:
        assert answer["stdout"].strip() == (header(text, "stdout") or "")
