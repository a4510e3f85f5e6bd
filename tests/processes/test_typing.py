"""Typed input, which is not lost, however early it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import PIPE, Sandbox, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

BACKENDS = [
    "bubblewrap",
    pytest.param("docker", marks=pytest.mark.engine("docker", "python")),
]
ASKS_HIDDEN = "import getpass; raise SystemExit(getpass.getpass() != 'pw')"
BUSY = "import sys\nprint('on', flush=True)\nwhile True: pass"


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox.create(backend=request.param) as sandbox:
        yield sandbox


def test_a_shell_fifty_times(sandbox: Sandbox) -> None:
    times = 50 if sandbox.backend == "bubblewrap" else 10
    for number in range(times):
        shell = sandbox.exec("sh", "-i", stdin=PIPE, pty=Terminal(rows=40, cols=120), timeout=60)
        assert shell.stdin is not None
        shell.stdin.write("sleep 600\n")
        shell.stdin.write("\x03")
        shell.resize(50, 132)
        shell.stdin.write("exit 3\n")
        assert shell.wait() == 3, (number, shell.stdout.read())


def test_in_one_piece(sandbox: Sandbox) -> None:
    shell = sandbox.exec("sh", "-i", stdin=PIPE, pty=True, timeout=60)
    assert shell.stdin is not None
    shell.stdin.write("sleep 600\n\x03sleep 600\n\x03exit 4\n")
    assert shell.wait() == 4


def test_a_program_that_forgets_what_was_typed_before(sandbox: Sandbox) -> None:
    for _ in range(5):
        asks = sandbox.exec("python", "-c", ASKS_HIDDEN, stdin=PIPE, pty=True, timeout=60)
        assert asks.stdin is not None
        asks.stdin.write("pw\n")
        assert asks.wait() == 0, asks.stdout.read()


def test_a_busy_program_is_interrupted(sandbox: Sandbox) -> None:
    busy = sandbox.exec("python", "-c", BUSY, stdin=PIPE, pty=True, timeout=60)
    assert busy.stdin is not None
    assert next(iter(busy.stdout.lines())).strip() == "on"
    busy.stdin.write("text that nobody reads\n\x03")
    assert busy.wait() in (1, 130)
    assert "KeyboardInterrupt" in busy.stdout.read()
