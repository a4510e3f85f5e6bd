"""The documentation is true of the tree: what it names exists, and what exists is named."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "llm_sandbox"


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 180


def test_paths_of_the_architecture_page_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    paths = re.findall(r"`((?:[\w<>]+/)+(?:\w+\.py)?)`", text)
    assert len(paths) > 30
    missing = [
        path for path in paths if not any((base / path).exists() for base in (PACKAGE, ROOT))
    ]
    assert not missing


def test_the_tree_of_contributing_is_the_package() -> None:
    """Each line of the tree begins with the names that it describes."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (tree,) = re.findall(r"```text\nllm_sandbox/\n(.*?)```", text, re.DOTALL)
    named: list[str] = []
    for line in tree.splitlines():
        names = re.match(r"  ((?:\S+ )+)", line)
        assert names is not None, line
        named += [name.rstrip("/") for name in names[1].split()]
    present = {
        path.stem
        for path in PACKAGE.iterdir()
        if not path.name.startswith("_") and (path.suffix == ".py" or any(path.rglob("*.py")))
    }
    assert sorted(present) == sorted(named)
