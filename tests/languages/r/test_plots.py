"""Every script of the corpus gives the plots that its first lines name, each once, in order."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.results.outputs import (
    DisplayOutput,
    ResultOutput,
    StreamOutput,
    UpdateOutput,
    last_displays,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from llm_sandbox import ExecutionResult
    from llm_sandbox.results.outputs import Output

pytestmark = pytest.mark.timeout(180)

CORPUS = sorted((Path(__file__).parent / "plots").glob("*.R"))
RUN_S = 100
BETWEEN = re.compile(r"(?m)^# %%.*\n")
SIZES = {"image/png": (2_000, 400_000), "text/html": (100_000, 20_000_000)}
"""Bytes that a picture may take: more than a blank page, less than one that is far too large."""
DEFAULT_SIZE = "1008x720"


def header(text: str, name: str) -> list[str]:
    """The words of one of the first lines."""
    found = re.search(rf"(?m)^# {name}:(.*)$", text)
    return found[1].split() if found else []


def shown(outputs: Sequence[Output]) -> list[DisplayOutput | UpdateOutput]:
    """The plots among outputs, as they were last."""
    found: list[Any] = list(last_displays(tuple(outputs)).values())
    return [
        output for output in found if any(mime in SIZES for mime in output.data) and is_plot(output)
    ]


def is_plot(output: DisplayOutput | ResultOutput | UpdateOutput) -> bool:
    detail = output.metadata.get("llm_sandbox")
    return isinstance(detail, dict) and detail.get("kind") == "plot"


def mime_of(output: DisplayOutput | UpdateOutput) -> str:
    return next(mime for mime in output.data if mime in SIZES)


def run_all(text: str, *, persistent: bool = True) -> list[ExecutionResult]:
    """Run a script in a session of its own, in the runs that it is divided in."""
    with SandboxSession(lang="r", backend="bubblewrap", persistent=persistent) as session:
        return [session.run(code, timeout=RUN_S) for code in BETWEEN.split(text)]


def test_there_are_enough_scripts() -> None:
    assert len(CORPUS) >= 40


@pytest.mark.sampled
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_script(path: Path, needs: Callable[..., None]) -> None:
    text = path.read_text(encoding="utf-8")
    needs(*header(text, "needs"))

    results = run_all(text)

    plots = [plot for result in results for plot in shown(result.outputs)]
    assert header(text, "expects") == [mime_of(plot) for plot in plots]
    # What a person is given is the same: `plots` of the results.
    assert len(plots) == sum(len(result.plots) for result in results)
    sizes = iter(header(text, "size") or [DEFAULT_SIZE] * len(plots))
    for plot in (plot for result in results for plot in result.plots):
        mime = "image/png" if plot.format.value == "png" else "text/html"
        least, most = SIZES[mime]
        assert least < len(base64.b64decode(plot.content_base64)) < most
        if mime == "image/png":
            assert f"{plot.width}x{plot.height}" == next(sizes)
            assert round(plot.dpi or 0) == 144
    names = {Path(file.name).name for result in results for file in result.files}
    assert names == set(header(text, "files"))
    check_ending(text, results)
    check_order(text, results)


def check_ending(text: str, results: list[ExecutionResult]) -> None:
    """The runs ended well, or as the script says."""
    failed = [
        result.error.name for result in results if result.error and result.error.kind != "exit"
    ]
    expected = header(text, "error")
    assert failed == expected or (expected == ["any"] and len(failed) == 1), results[-1].stderr
    code = int((header(text, "exit") or ["1" if expected else "0"])[0])
    assert results[-1].exit_code == code


def check_order(text: str, results: list[ExecutionResult]) -> None:
    """Check that lines and figures stand in the order that the script says."""
    expected = header(text, "order")
    if expected:
        kinds = [
            "text" if isinstance(output, StreamOutput) else "plot" for output in results[0].outputs
        ]
        assert kinds == expected


@pytest.mark.parametrize(
    "name",
    ["base_two_pages", "base_mfrow", "base_error_between", "base_late_layer", "file_pdf_svg"],
)
def test_program(name: str) -> None:
    """A whole program shows the same plots, and leaves no file of its own."""
    text = (Path(__file__).parent / "plots" / f"{name}.R").read_text(encoding="utf-8")

    (result,) = run_all(text, persistent=False)

    assert len(header(text, "expects")) == len(result.plots)
    assert {Path(file.name).name for file in result.files} == set(header(text, "files"))


def test_widget_of_a_program(needs: Callable[..., None]) -> None:
    needs("plotly")
    text = (Path(__file__).parent / "plots" / "plotly_mixed.R").read_text(encoding="utf-8")

    (result,) = run_all(text, persistent=False)

    assert [plot.format.value for plot in result.plots] == ["png", "html", "png"]


def test_a_widget_is_whole(session: Any, needs: Callable[..., None]) -> None:
    """Its page asks nothing of any network."""
    needs("plotly")
    code = "suppressPackageStartupMessages(library(plotly)); plot_ly(x = 1, y = 2)"

    (plot,) = session.run(code, timeout=RUN_S).plots

    page = base64.b64decode(plot.content_base64).decode()
    assert "Plotly.newPlot" in page
    assert not re.search(r"<(?:script|link)[^>]+(?:src|href)=", page)
