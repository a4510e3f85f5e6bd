"""`llm-sandbox scan` of notebooks: findings by cell, and what is no notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Done  # for the type checker only

pytestmark = pytest.mark.slow

RUNS = "import os\nos.system('ls')\n"
DELETES = "import os\nos.remove('tmp.csv')\n"
PLAIN = "import os\nprint(os.path.join('a', 'b'))\n"


def notebook(*cells: tuple[str, str], **metadata: Any) -> str:
    made = [{"cell_type": kind, "metadata": {}, "source": text} for kind, text in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made})


def test_notebook(cli: Callable[..., Done], tmp_path: Path) -> None:
    """Cells are one program; findings name their cell, and a broken one hides no other."""
    cells = (
        ("markdown", "# os.system"),
        ("code", "import os as o"),
        ("code", "%matplotlib inline\nx = 1\n\no.system('ls')"),
        ("code", "def ("),
        ("code", "o.system('pwd')"),
        ("code", "x\n"),
    )
    (tmp_path / "n.ipynb").write_text(notebook(*cells))
    done = cli("scan", "n.ipynb")
    assert 1 == done.code
    findings = [line for line in done.out.splitlines() if "process.run" in line]
    assert ["n.ipynb#cell-3:4:1", "n.ipynb#cell-5:1:1"] == [
        line.partition(": HIGH")[0] for line in findings
    ]
    assert "n.ipynb#cell-4:1:" in done.out
    assert "in 1 file, which was not read in full" in done.out
    whole = notebook(*(cell for cell in cells if cell[1] != "def ("))
    (tmp_path / "n.ipynb").write_text(whole)
    done = cli("scan", "n.ipynb")
    assert "2 findings in 1 file: 2 high" == done.out.splitlines()[-1]


def test_notebook_as_lists(cli: Callable[..., Done], tmp_path: Path) -> None:
    """Source as a list of lines, cells of other programs, and the older format are read."""
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": RUNS.splitlines(True)}]}]}
    (tmp_path / "old.ipynb").write_text(json.dumps({"nbformat": 3, "metadata": {}} | old))
    assert "old.ipynb#cell-1:2:1: HIGH process.run" in cli("scan", "old.ipynb").out
    (tmp_path / "r.ipynb").write_text(
        notebook(("code", "system('ls')"), kernelspec={"language": "R"})
    )
    assert "r.ipynb#cell-1:1:1: HIGH process.run" in cli("scan", "r.ipynb").out
    (tmp_path / "e.ipynb").write_text(notebook(("markdown", "os.system('ls')")))
    assert (0, "nothing found in 1 file\n", "") == cli("scan", "e.ipynb")
    (tmp_path / "s.ipynb").write_text(notebook(("code", "x = 1"), ("code", "%%bash\nls")))
    assert "s.ipynb#cell-2:1:1: HIGH process.run: " in cli("scan", "s.ipynb").out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a notebook"),
        ("[]", "not a notebook: it is not an object"),
        ('{"cells": 3}', "not a notebook: it has no cells"),
        ("[" * 100_000, "not a notebook"),
        (notebook(("code", "1"), kernelspec={"language": "julia"}), "'julia'"),
    ],
    ids=lambda text: text[:20],
)
def test_no_notebook(cli: Callable[..., Done], tmp_path: Path, text: str, says: str) -> None:
    """A file that only has a notebook's name is told, not passed over."""
    (tmp_path / "n.ipynb").write_text(text)
    done = cli("scan", "n.ipynb")
    assert 2 == done.code
    assert f"n.ipynb was not read: {says}" in done.err or says in done.err
    assert "Traceback" not in done.err
