"""Modules of Go, from a proxy made for the test: fetched once, and built without a network."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.language_handlers.go.packages import GoPackages

if TYPE_CHECKING:
    from pathlib import Path

    from tests.languages.packages.installing import MakeInstaller

pytestmark = pytest.mark.timeout(240)

PROGRAM = """package main

import (
	"fmt"

	"example.org/above"
)

func main() { fmt.Println(above.Say()) }
"""


def test_a_module_comes_with_what_it_needs(
    installer: MakeInstaller, proxy: Path, tmp_path: Path
) -> None:
    made = installer(GoPackages())
    layer = made.install("example.org/above")
    assert sorted(path.name for path in (layer.path / "mod" / "example.org").iterdir()) == [
        "above@v1.0.0",
        "below@v1.0.0",
    ]
    assert list(layer.path.rglob("*.zip")) == []
    work = tmp_path / "work"
    work.mkdir()
    (work / "main.go").write_text(
        PROGRAM.replace("Say())", "Say(), deep.Depth)").replace(
            '"example.org/above"', '"example.org/above"\n\t"example.org/above/deep"'
        )
    )
    for name in ("go.mod", "go.sum"):
        (work / name).write_bytes((layer.path / name).read_bytes())
    env = {
        **os.environ,
        "GOMODCACHE": str(layer.path / "mod"),
        "GOPROXY": "off",
        "GOCACHE": str(tmp_path / "gocache"),
        "GOENV": "off",
    }
    done = subprocess.run(
        ["go", "run", "."], cwd=work, env=env, capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "above below v1.0.0 7\n", done.stderr
    assert made.leftovers == []


def test_versions_agree(installer: MakeInstaller, proxy: Path) -> None:
    made = installer(GoPackages())
    layer = made.install("example.org/above", "example.org/below@v1.2.0")
    assert (layer.path / "mod" / "example.org" / "below@v1.2.0").is_dir()
    assert "example.org/below v1.2.0" in (layer.path / "go.mod").read_text()


def test_a_module_that_is_not_there_is_an_error_in_gos_words(
    installer: MakeInstaller, proxy: Path
) -> None:
    made = installer(GoPackages())
    with pytest.raises(LibraryInstallationError, match=r"example\.org/nothing"):
        made.install("example.org/nothing")
    assert made.leftovers == []


def test_a_session_uses_a_module(cache: Path, proxy: Path) -> None:
    with SandboxSession(lang="go", backend="bubblewrap") as session:
        result = session.run(PROGRAM, libraries=["example.org/above"])
    assert result.stdout == "above below v1.0.0\n", result.stderr
