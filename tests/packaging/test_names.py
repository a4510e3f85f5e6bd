"""Install commands with the library's own name, and extras that exist."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from llm_sandbox.host.distribution import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

# Pages that are about the other project.
ABOUT_THE_OTHER = ("docs/migrating.md", "docs/adr/", "tests/packaging/test_names.py")

FOREIGN = re.compile(
    r"""\bpip3?\ install\b[^\n`]*?(?<![\w./-])llm-sandbox(?![\w/-])  # is another project
    | (?<![\w./-])llm-sandbox\[                                   # its extras
    | \buvx?\b[^\n`]*?(?<![\w./-])llm-sandbox(?![\w/-])            # the same by another installer
    """,
    re.VERBOSE,
)
EXTRA = re.compile(r"""\b[Ee]xtras? ``?([a-z0-9-]+)``?|\bextra=["']([a-z0-9-]+)["']""")


def texts() -> dict[str, str]:
    """The text files of the tree, by path."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    found = listed.stdout.splitlines() or [
        path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.[mpt][dyo]*")
    ]
    kept: dict[str, str] = {}
    for name in found:
        path = ROOT / name
        if path.is_file() and path.suffix in {".md", ".py", ".toml", ".txt", ".yml", ""}:
            kept[name] = path.read_text(encoding="utf-8", errors="replace")
    return kept


def test_nothing_installs_the_other_project() -> None:
    told = [
        f"{name}: {match.group()}"
        for name, text in texts().items()
        if not name.startswith(ABOUT_THE_OTHER)
        for match in FOREIGN.finditer(text)
    ]
    assert not told


@pytest.mark.parametrize(
    "text",
    [
        "pip install llm-sandbox",
        "pip install 'llm-sandbox[docker]'",
        "python -m pip install -U llm-sandbox==1",
        "(`llm-sandbox[mcp]`)",
        "uvx llm-sandbox mcp",
    ],
)
def test_what_would_install_it_is_found(text: str) -> None:
    assert FOREIGN.search(text)


@pytest.mark.parametrize(
    "text", ["`pip install .`; `llm-sandbox run`", "pip install ./llm-sandbox", "llm-sandbox-perl"]
)
def test_what_would_not_is_passed_over(text: str) -> None:
    assert not FOREIGN.search(text)


def test_the_project_is_called_what_the_code_says() -> None:
    assert DISTRIBUTION == PROJECT["name"]


def test_an_extra_that_is_spoken_of_exists() -> None:
    """In documents, in docstrings, and where an error names one."""
    extras = PROJECT["optional-dependencies"]
    spoken = {
        (name, next(filter(None, match.groups())))
        for name, text in texts().items()
        if name.startswith(("llm_sandbox/", "docs/", "README", "examples/"))
        for match in EXTRA.finditer(text)
        if match.group(1) or match.group(2) != "forbid"
    }
    assert len(spoken) > 20
    assert not [(name, extra) for name, extra in spoken if extra not in extras]
