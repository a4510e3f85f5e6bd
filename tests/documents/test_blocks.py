"""Parser and runner of a page's blocks: failures are reported, and none is left out silently."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.documents.blocks import RUN, Block, read_blocks

PROGRAM = Path(__file__).with_name("run_page.py")


def read(folder: Path, text: str) -> list[Block]:
    page = folder / "page.md"
    page.write_text(text)
    return read_blocks(page, folder)


def run(folder: Path, text: str) -> dict[int, str | None]:
    """What came of each block of a page, by line."""
    blocks = read(folder, text)
    plan, report = folder / "plan.json", folder / "report.json"
    plan.write_text(json.dumps([{**asdict(b), "runs_as": RUN[b.language]} for b in blocks]))
    words = [sys.executable, str(PROGRAM), str(plan), str(report)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return {int(line): error for line, error in json.loads(report.read_text()).items()}


def test_comments_above_a_block_are_its_own(tmp_path: Path) -> None:
    """A blank line between them parts them."""
    text = (
        "<!-- needs: docker, g++ -->\n<!-- not run: it costs money -->\n```python\nx = 1\n```\n"
        "<!-- not run: nobody -->\n\n```sh\ntrue\n```\n"
        "<!-- table:end -->\n- in a list:\n\n  ```console\n  $ true\n  ```\n"
    )
    first, second, third = read(tmp_path, text)
    assert first == Block("page.md", 4, "python", "x = 1\n", ("docker", "g++"), "it costs money")
    assert second == Block("page.md", 9, "sh", "true\n")
    assert third == Block("page.md", 15, "console", "$ true\n")


def test_a_reason_is_needed_to_leave_one_out(tmp_path: Path) -> None:
    (block,) = read(tmp_path, "<!-- not run: -->\n```python\n```\n")
    assert block.not_run is None


def test_a_block_without_an_end_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"page\.md:2: the block has no end"):
        read(tmp_path, "text\n```python\nx = 1\n")


def test_a_page_is_one_program(tmp_path: Path) -> None:
    """Names go from block to block, and files from one kind to the other."""
    text = (
        "```python\nwords = ['one', 'two']\n```\n"
        "```sh\necho three > file\n```\n"
        "```python\nassert open('file').read() == 'three\\n' and words[0] == 'one'\n```\n"
        "```console\n$ cat \\\n> file\nthree\n```\n"
    )
    assert set(run(tmp_path, text).values()) == {None}


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("```python\n\nprint(missing)\n```\n", 'page.md", line 6, in <module>'),
        ("```python\nawait nothing()\n```\n", "SyntaxError"),
        ("```python\nimport sys; sys.exit(0)\n```\n", "SystemExit"),
        ("```python\njson.dumps({})\n```\n", "NameError: name 'json' is not defined"),
        ("```sh\nfalse\ntrue\n```\n", "exit code 1"),
        ("```sh\nfalse | true\n```\n", "exit code 1"),
        ("```console\n$ no-such-program --now\n```\n", "no-such-program"),
        ("```sh\nread word\n```\n", "exit code 1"),
    ],
)
def test_what_fails_is_told(tmp_path: Path, block: str, told: str) -> None:
    """Each with its own reason, and those after it run nevertheless."""
    text = f"```python\nx = 1\n```\n{block}```python\nassert x == 1\n```\n"
    first, second, third = run(tmp_path, text).values()
    assert (first, third) == (None, None)
    assert told in (second or "")
