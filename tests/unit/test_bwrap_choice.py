"""The choice among several programs `bwrap`."""

from __future__ import annotations

import subprocess
import sys

import pytest

CHOICE = """
import signal, sys
if sys.argv[1] == "ignored":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from llm_sandbox.backends.bubblewrap import binary
tried = []
isolates = binary._isolates
def look(path):
    tried.append(isolates(path))
    return tried[-1]
binary._isolates = look
print(binary.find_bwrap().path, tried)
"""


def choice(children: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", CHOICE, children], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_that_ignores_its_children_chooses_as_any_other() -> None:
    """`bwrap` inherits that, and would wait for ever for what it has started."""
    usual = choice("noticed")
    if "[]" in usual:
        pytest.skip("there is one bwrap here, and nothing to choose")
    assert choice("ignored") == usual
