"""Every script of the corpus shows what its first line names, each once, in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from llm_sandbox.session.session import BaseSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

RUN_S = 100
CORPUS = sorted((Path(__file__).parent / "plots").iterdir())
SIZES = {
    "image/png": (500, 400_000),
    "image/jpeg": (500, 400_000),
    "image/svg+xml": (100, 100_000),
    "text/html": (50, 100_000),
}
"""Bytes that a picture may take: more than an empty one, less than one that is far too large."""

BITMAPS = """
package org.knowm.xchart;
import java.awt.image.BufferedImage;
import org.knowm.xchart.internal.chartpart.Chart;
public class BitmapEncoder {
    public static BufferedImage getBufferedImage(Chart<?> chart) {
        return new BufferedImage(chart.width, 40, BufferedImage.TYPE_INT_RGB);
    }
}
"""
CHART = """
package org.knowm.xchart.internal.chartpart;
public class Chart<T> {
    public int width = 70;
    public static class Lines extends Chart<Lines> { }
}
"""


def header(text: str, name: str) -> list[str]:
    """The words of one of the first lines."""
    found = re.search(rf"(?m)^// {name}:(.*)$", text)
    return found[1].split() if found else []


def test_there_are_enough_scripts() -> None:
    assert len(CORPUS) >= 6
    assert all(header(path.read_text(encoding="utf-8"), "expects") for path in CORPUS)


@pytest.mark.sampled
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_script(shared: BaseSession, path: Path, needs: Callable[..., None]) -> None:
    text = path.read_text(encoding="utf-8")
    needs(*header(text, "needs"))

    result = shared.run(text, timeout=RUN_S)

    assert (0, "") == (result.exit_code, result.stderr)
    assert header(text, "expects") == [item.mime for item in result.artifacts]
    for item in result.artifacts:
        least, most = SIZES[item.mime]
        assert item.size is not None
        assert least < item.size < most, item.mime
        if item.mime in ("image/png", "image/jpeg"):
            assert min(item.width or 0, item.height or 0) >= 50


def test_images_are_plots(session: BaseSession) -> None:
    code = (Path(__file__).parent / "plots" / "several.java").read_text(encoding="utf-8")

    assert 3 == len(session.run(code, timeout=RUN_S).plots)


@pytest.mark.parametrize("persistent", [True, False])
def test_a_table_has_its_columns(persistent: bool) -> None:
    from llm_sandbox import ArtifactSandboxSession

    code = (Path(__file__).parent / "plots" / "table.java").read_text(encoding="utf-8")
    with ArtifactSandboxSession(
        lang="java", backend="bubblewrap", persistent=persistent
    ) as session:
        (table,) = session.run(code, timeout=RUN_S).tables

    assert ["item", "count", "price", "day"] == [column.name for column in table.columns]
    assert ["string", "integer", "number", "date"] == [str(column.type) for column in table.columns]
    assert ("<washer>", 7, 0.02, "2024-03-02") == table.head[1]


def test_a_chart_of_xchart(session: BaseSession) -> None:
    """A chart is drawn by the library's own writer; this one is only named as XChart's."""
    session.sandbox.files.write_text("org/knowm/xchart/BitmapEncoder.java", BITMAPS)
    session.sandbox.files.write_text("org/knowm/xchart/internal/chartpart/Chart.java", CHART)
    made = session.execute_command(
        "javac org/knowm/xchart/BitmapEncoder.java org/knowm/xchart/internal/chartpart/Chart.java"
    )
    assert 0 == made.exit_code, made.stderr

    result = session.run("new org.knowm.xchart.internal.chartpart.Chart.Lines()", timeout=RUN_S)

    (plot,) = result.plots
    assert (70, 40) == (plot.width, plot.height)
