"""The shim is accepted by its own tools."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from llm_sandbox.language_handlers.java import JavaHandler

pytestmark = pytest.mark.timeout(120)

SHIM = Path(str(JavaHandler().shim_folder))


def test_the_compiler_has_nothing_against_it(tmp_path: Path) -> None:
    sources = sorted(str(path) for path in SHIM.rglob("*.java"))
    words = ["-Xlint:all", "-Werror", "-XDignore.symbol.file", "-proc:none", "-d", str(tmp_path)]
    done = subprocess.run(["javac", *words, *sources], capture_output=True, text=True, timeout=100)

    assert (0, "") == (done.returncode, done.stderr)


def test_the_script_is_plain_shell() -> None:
    script = str(SHIM / "start.sh")
    assert 0 == subprocess.run(["sh", "-n", script], timeout=20).returncode
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run(["shellcheck", script], capture_output=True, text=True, timeout=60)
    assert (0, "") == (done.returncode, done.stdout)
