"""Charts in Ruby: files that are written, and charts that are a value or are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.testing.language_fixtures import RUN_S, LanguageFixtures
from llm_sandbox.testing.suite import usable_backend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.session.session import BaseSession

pytestmark = pytest.mark.timeout(240)

CHART = """
require "gruff"
chart = Gruff::{kind}.new(400)
chart.title = "Sales"
chart.data(:north, [3, 5, 2])
chart.data(:south, [1, 4, 6])
"""
SIZES = range(2_000, 200_000)


class Sessions(LanguageFixtures):
    backend_name = "bubblewrap"


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    usable_backend("bubblewrap")
    with Sessions.open("ruby") as session:
        if session.run("require 'gruff'", timeout=RUN_S).exit_code:
            pytest.skip("gruff is not installed")
        yield session


@pytest.mark.parametrize("kind", ["Line", "Bar", "Pie", "Area", "StackedBar"])
def test_written_charts(session: BaseSession, kind: str) -> None:
    """One picture, with the name of its file, also where the call is the last of the code."""
    result = session.run(
        CHART.replace("{kind}", kind) + f'chart.write("{kind}.png")', timeout=RUN_S
    )

    assert result.exit_code == 0, result.stderr
    (artifact,) = result.artifacts
    assert (artifact.mime, artifact.paths) == ("image/png", (f"{kind}.png",))
    assert (artifact.width, artifact.height) == (400, 300)
    assert artifact.size in SIZES


@pytest.mark.parametrize(
    "shown", ["chart", "IRuby.display(chart)", 'chart.to_blob("PNG")', "IRuby.png chart.to_blob"]
)
def test_shown_charts(session: BaseSession, shown: str) -> None:
    result = session.run(CHART.replace("{kind}", "Line") + shown, timeout=RUN_S)

    assert result.exit_code == 0, result.stderr
    (artifact,) = result.artifacts
    assert (artifact.mime, artifact.paths) == ("image/png", ())
    assert artifact.size in SIZES


def test_charts_come_in_order(session: BaseSession) -> None:
    code = CHART.replace("{kind}", "Bar") + (
        "puts 'one'\nIRuby.display chart\nputs 'two'\n"
        "IRuby.svg \"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>\"\nputs 'three'"
    )
    result = session.run(code, timeout=RUN_S)

    assert [item.type for item in result.outputs if getattr(item, "text", "") != "\n"] == [
        "stream",
        "display",
        "stream",
        "display",
        "stream",
    ]
    assert [item.mime for item in result.artifacts] == ["image/png", "image/svg+xml"]
