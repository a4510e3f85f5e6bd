"""The same on every backend, and what gVisor refuses."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import PIPE, Sandbox, Terminal
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError, UnsupportedError
from tests.processes.conftest import WAIT_S, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BACKENDS = [
    pytest.param("docker", marks=pytest.mark.engine("docker", "python")),
    pytest.param("podman", marks=pytest.mark.engine("podman", "python")),
    pytest.param("local", marks=pytest.mark.filterwarnings("ignore:.*does not isolate")),
]
PROGRAM = """
import os, signal
def say(word, *_):
    os.write(1, b"%s %d %d\\n" % (word, *os.get_terminal_size()))
print(os.isatty(0), os.ttyname(1)[:9], os.isatty(os.open("/dev/tty", os.O_RDWR)), flush=True)
signal.signal(signal.SIGWINCH, lambda *_: say(b"heard"))
say(b"ready")
while True:
    signal.pause()
"""


@pytest.fixture(params=BACKENDS)
def machine(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox.create(backend=request.param) as made:
        yield made


def test_terminals_and_targets(machine: Sandbox, tmp_path: Path) -> None:
    process = machine.exec("python3", "-c", PROGRAM, pty=Terminal(30, 90), stdin=PIPE)
    assert shown(process, "ready 90 30").startswith("True /dev/pts/ True\r\n")
    assert process.resize(50, 132)
    shown(process, "heard 132 50")
    assert process.stdin is not None
    process.stdin.write("\x03")
    result = process.collect(timeout=WAIT_S)
    assert (result.exit_code, result.signal) == (130, signal.SIGINT)
    assert machine.exec("cat", pty=True).collect(timeout=WAIT_S).exit_code == 0
    given = machine.exec("cat", pty=True, stdin="a\n").collect(timeout=WAIT_S)
    assert given.stdout == "a\r\na\r\n"
    flood = machine.exec("python3", "-c", "print('x' * 300_000)", pty=True)
    assert len(flood.collect(timeout=WAIT_S).stdout) == 300_002
    late = machine.sh("sleep 600", pty=True, timeout=0.3).collect(timeout=WAIT_S)
    assert (late.exit_code, late.timed_out) == (124, True)

    both = "for n in 1 2 3; do echo out; echo err >&2; done"
    merged = machine.sh(both, stderr="stdout", stdout=tmp_path / "both")
    assert merged.wait(WAIT_S) == 0
    assert (tmp_path / "both").read_text() == "out\nerr\n" * 3
    null = machine.sh(both, stdout="null").collect(timeout=WAIT_S)
    assert (null.stdout, null.stderr) == ("", "err\n" * 3)


def test_gvisor_refuses_terminals_and_has_the_rest() -> None:
    """Its kernel has no /dev/tty, no key that interrupts and no news of a size."""
    backend = get_backend("gvisor")
    try:
        backend.check()
    except BackendUnavailableError as error:
        pytest.skip(f"gVisor does not work here: {error.message}")
    with Sandbox.create(backend=backend) as sandbox:
        with pytest.raises(UnsupportedError, match="pty is not supported by backend 'gvisor'"):
            sandbox.exec("sh", pty=True)

        both = "for n in 1 2 3; do echo out; echo err >&2; done"
        merged = sandbox.sh(both, stderr="stdout").collect(timeout=WAIT_S)
        assert merged.stdout == "out\nerr\n" * 3
        null = sandbox.sh(both, stdout="null").collect(timeout=WAIT_S)
        assert (null.stdout, null.stderr) == ("", "err\n" * 3)
