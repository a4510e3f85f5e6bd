"""Every script of the corpus gives the pictures that its first line names, each once, in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.results.outputs import DisplayOutput, ResultOutput, StreamOutput

if TYPE_CHECKING:
    from llm_sandbox import ExecutionResult
    from llm_sandbox.session.session import BaseSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

CORPUS = sorted((Path(__file__).parent / "plots").glob("*.js"))
LEAST = 20
RUN_S = 100
SIZES = {"image/svg+xml": (90, 200_000), "image/png": (150, 200_000), "image/jpeg": (300, 200_000)}
"""Bytes that a picture may take: more than an empty one, less than one that is far too large."""


def header(text: str, name: str) -> list[str]:
    """The words of one of the first lines."""
    found = re.search(rf"(?m)^// {name}:(.*)$", text)
    return found[1].split() if found else []


def kinds(result: ExecutionResult) -> list[str]:
    """The types of the pictures, in order."""
    shown = [out for out in result.outputs if isinstance(out, DisplayOutput | ResultOutput)]
    return [mime for output in shown for mime in output.data if mime in SIZES]


def test_there_are_enough_scripts() -> None:
    assert len(CORPUS) >= LEAST


@pytest.mark.sampled
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_script(path: Path, request: pytest.FixtureRequest) -> None:
    text = path.read_text(encoding="utf-8")
    session: BaseSession = request.getfixturevalue("plotter" if header(text, "needs") else "shared")

    result = session.run(text, timeout=RUN_S)

    assert ("", 0) == (result.stderr, result.exit_code)
    expected = header(text, "expects")
    assert expected == kinds(result)
    assert len(expected) == len(result.plots)
    for mime, plot in zip(expected, result.plots, strict=True):
        least, most = SIZES[mime]
        assert mime.split("/")[1].split("+")[0] == plot.format.value
        assert least < len(plot.bytes()) < most
    assert header(text, "files") == [Path(file.name).name for file in result.files]


def test_pictures_stand_between_what_is_printed(plotter: BaseSession) -> None:
    text = next(path for path in CORPUS if path.stem == "order").read_text(encoding="utf-8")

    outputs = plotter.run(text, timeout=RUN_S).outputs

    expected = [StreamOutput("stdout", "one\n"), "image/svg+xml", StreamOutput("stdout", "two\n")]
    expected += ["image/png", StreamOutput("stdout", "three\n")]
    assert expected == [
        out if isinstance(out, StreamOutput) else next(mime for mime in out.data if mime in SIZES)  # type: ignore[union-attr]
        for out in outputs
    ]


def test_programs_show_pictures_too() -> None:
    """A whole program has `display` as well; the value of its last line is nobody's."""
    code = (Path(__file__).parent / "plots" / "svg_displayed_twice.js").read_text(encoding="utf-8")
    with SandboxSession(lang="javascript", backend="bubblewrap", persistent=False) as session:
        result = session.run(f"{code}\ndisplay([{{ a: 1 }}]); 7", timeout=RUN_S)

    assert ["image/svg+xml"] * 2 == kinds(result)
    assert 2 == len(result.plots)
    assert ["a"] == [c.name for a in result.artifacts if a.table for c in a.table.columns]
