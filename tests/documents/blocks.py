"""The code blocks of a Markdown page, and which of them a reader can run.

The Python blocks of a page are one program, in order, and its shell blocks run in between, in the
same empty folder. What a page takes for granted (`penguins.csv`, `script.py`) is in `given`.
Comments straight above a block say what else it takes, or why it is not run:

    <!-- needs: docker -->
    <!-- needs: ruby, g++ -->
    <!-- not run: asks a model that has to be paid -->
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RUN = {"python": "python", "sh": "shell", "bash": "shell", "console": "console"}
"""What is run, by the word behind the fence: `console` has a `$` before each command."""
SHOWN = ("css", "diff", "dockerfile", "html", "ini", "json", "markdown", "text", "toml", "yaml")
"""What is only shown."""

_FENCE = re.compile(r"^(?P<indent>\s*)(?P<fence>```+)\s*(?P<language>\S*)\s*$")
_COMMENT = re.compile(r"^\s*<!--\s*(?P<key>needs|not run):\s*(?P<words>\S.*?)\s*-->\s*$")


@dataclass(frozen=True)
class Block:
    """One block."""

    page: str
    line: int
    """Of its first line of code; the page's first line is 1."""
    language: str
    text: str
    needs: tuple[str, ...] = ()
    """Engines and programs."""
    not_run: str | None = None
    """Why it is not run; None where it is."""

    @property
    def name(self) -> str:
        """Where to find it."""
        return f"{self.page}:{self.line}"


def read_blocks(page: Path, root: Path) -> list[Block]:
    """Return the blocks of a page.

    Raises:
        ValueError: One has no end.
    """
    name = page.relative_to(root).as_posix()
    lines = page.read_text(encoding="utf-8").splitlines()
    blocks: list[Block] = []
    at = 0
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        at += 1
        if opening is None:
            continue
        start = at
        while at < len(lines) and lines[at].strip() != opening["fence"]:
            at += 1
        if at == len(lines):
            raise ValueError(f"{name}:{start}: the block has no end")
        text = textwrap.dedent("\n".join(lines[start:at])) + "\n"
        said = _comments(lines[: start - 1])
        needs = tuple(re.split(r",\s*", said["needs"])) if "needs" in said else ()
        blocks.append(Block(name, start + 1, opening["language"], text, needs, said.get("not run")))
        at += 1
    return blocks


def _comments(before: list[str]) -> dict[str, str]:
    """What the comments straight above a block say."""
    said: dict[str, str] = {}
    for line in reversed(before):
        comment = _COMMENT.match(line)
        if comment is None:
            break
        said[comment["key"]] = comment["words"]
    return said
