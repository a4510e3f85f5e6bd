"""Every block of README and of the documents runs, for somebody who has installed the wheel."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.documents.blocks import RUN, SHOWN, Block, read_blocks
from tests.plugins.needed_engines import missing_engine

if TYPE_CHECKING:
    from tests.documents.conftest import NewUser

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [block for page in PAGES for block in read_blocks(page, ROOT)]
ENGINES = ("docker", "podman")

# The environment is made within the first test's time.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def lack(block: Block) -> str | None:
    """What a block needs and this machine has not."""
    for name in block.needs:
        if name in ENGINES:
            reason = missing_engine(name, "python")
            if reason is not None:
                return reason
        elif shutil.which(name, path="/usr/local/bin:/usr/bin:/bin") is None:
            return f"{name} is not installed"
    return None


def parameters() -> list[object]:
    """The blocks to run; those that say why they are not run are skipped with that."""
    made = []
    for block in BLOCKS:
        if block.language in RUN:
            marks = [pytest.mark.engine(n, image="python") for n in block.needs if n in ENGINES]
            if block.not_run is not None:
                marks = [pytest.mark.skip(reason=f"{block.name} is not run: {block.not_run}")]
            made.append(pytest.param(block, id=block.name, marks=marks))
    return made


@pytest.mark.parametrize("block", parameters())
def test_block_runs(new_user: NewUser, block: Block) -> None:
    """It runs as it stands, after those before it on its page."""
    reason = lack(block)
    if reason is not None:
        pytest.skip(f"{block.name}: {reason}")
    runnable = [
        one
        for one in BLOCKS
        if one.page == block.page
        and one.language in RUN
        and one.not_run is None
        and lack(one) is None
    ]
    error = new_user.run_page(block.page, runnable)[block.line]
    assert error is None, f"{block.name}\n{error}"


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.name)
def test_block_says_what_it_is(block: Block) -> None:
    """By the word behind its fence; what is called otherwise would be run by nobody."""
    assert block.language in {*RUN, *SHOWN}, f"{block.name}: {block.language!r}"
    assert block.language in RUN or (block.not_run is None and not block.needs)
