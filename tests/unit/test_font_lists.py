"""The list of fonts is made once on a computer, and each sandbox has it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import create_session
from llm_sandbox.backends.font_lists import font_lists
from llm_sandbox.settings import get_settings

if TYPE_CHECKING:
    from pathlib import Path


def made(cache: Path) -> dict[str, str]:
    end = time.monotonic() + 60
    while not (found := font_lists(cache)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def test_it_is_made_in_the_background(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert font_lists(tmp_path) == {}
    found = made(tmp_path)
    assert [name.startswith("fontlist-") for name in found] == [True]
    assert "DejaVu Sans" in next(iter(found.values()))
    # Nothing is left of how it was made.
    assert len(list((tmp_path / "fonts").iterdir())) == 1


def test_a_sandbox_has_it() -> None:
    pytest.importorskip("matplotlib")
    made(get_settings().cache_dir)
    with create_session("bubblewrap", start="cold") as session:
        result = session.run(
            "import os, glob, matplotlib.font_manager as fonts\n"
            "print([os.path.islink(path) for path in glob.glob('/tmp/.matplotlib/fontlist-*')])\n"
            "print(os.path.exists(fonts.findfont('DejaVu Sans')))"
        )
    # A supervisor that was started before the list was made has none, and matplotlib its own.
    assert result.stdout.splitlines()[0] in ("[True]", "[False]")
    assert result.stdout.splitlines()[1] == "True"
