"""The entry of a sandbox on a terminal of its own, used by several handles."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox, Terminal
from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError, UnsupportedError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

WAIT_S = 40.0
BACKENDS = ["bubblewrap", pytest.param("docker", marks=pytest.mark.engine("docker", "python"))]
FACTS = "print(os.isatty(0), os.isatty(2), os.environ['TERM'], flush=True)\n"
PROGRAM = f"""
import os, signal
{FACTS}
def say(word, *_):
    os.write(2, b"%s %d %d\\n" % (word, *os.get_terminal_size()))
signal.signal(signal.SIGWINCH, lambda *_: say(b"heard"))
say(b"ready")
while True:
    signal.pause()
"""
OTHER = """
from llm_sandbox import Sandbox
entry = Sandbox.attach({id!r}).entry
lines = entry.stdout.lines()
while next(lines) != "ready 90 30\\r": pass
entry.resize(50, 132)
while next(lines) != "heard 132 50\\r": pass
entry.stdin.write("\\x03")
print(entry.wait())
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_entry_has_a_terminal(
    backend: str, registry: Any, client: Callable[[str], Any]
) -> None:
    """Its maker and another process see the same, resize it and type."""
    command = ("python3", "-c", PROGRAM)
    with Sandbox.create(*command, backend=backend, pty=Terminal(30, 90, "vt100")) as sandbox:
        assert sandbox.entry is not None
        lines = sandbox.entry.stdout.lines()
        assert [next(lines), next(lines)] == ["True True vt100\r", "ready 90 30\r"]
        other = client(OTHER.format(id=sandbox.id))
        assert next(lines) == "heard 132 50\r"
        assert other.line() == "130"
        result = sandbox.entry.collect(timeout=WAIT_S)
        assert (result.exit_code, result.stderr) == (130, "")
        assert sandbox.wait(WAIT_S) == 130
        assert sandbox.end_reason == "exited"
        assert not sandbox.entry.resize(24, 80)


def test_the_last_of_it_is_shown(registry: Any) -> None:
    """The terminal is carried to the end before the sandbox ends with its entry."""

    def said(_: int) -> str:
        with Sandbox.create("echo", "word", backend="bubblewrap", pty=True) as sandbox:
            assert sandbox.entry is not None
            return str(sandbox.entry.stdout.read())

    with ThreadPoolExecutor(8) as pool:  # on a busy machine
        assert ["word\r\n"] * 48 == list(pool.map(said, range(48)))


def test_without_one_it_has_pipes(registry: Any) -> None:
    command = ("sh", "-c", f'python3 -c "import os; {FACTS}"; cat')
    with Sandbox.create(*command, backend="bubblewrap") as sandbox:
        assert sandbox.entry is not None
        assert next(sandbox.entry.stdout.lines()) == "False False dumb"
        with pytest.raises(ValidationError):
            sandbox.entry.resize(50, 132)


def test_its_kind_is_what_the_sandbox_says(registry: Any) -> None:
    """As of any program: a variable that is given wins."""
    command = ("sh", "-c", "echo $TERM; cat")
    options = {"backend": "bubblewrap", "env": {"TERM": "ansi"}}
    with Sandbox.create(*command, pty=True, **options) as sandbox:
        assert sandbox.entry is not None
        assert next(sandbox.entry.stdout.lines()) == "ansi\r"


def test_its_awaitable_twin(registry: Any) -> None:
    async def work() -> tuple[list[str], int]:
        command = ("sh", "-c", "stty size; read line; stty size")
        made = await AsyncSandbox.create(*command, backend="bubblewrap", pty=Terminal(30, 90))
        async with made as sandbox:
            entry = sandbox.entry
            assert entry is not None
            assert entry.stdin is not None
            lines = entry.stdout.lines()
            seen = [await anext(lines)]
            assert await entry.resize(50, 132)
            await entry.stdin.write("\n")
            seen += [line async for line in lines]
            return seen, await entry.wait()

    assert asyncio.run(work()) == (["30 90\r", "\r", "50 132\r"], 0)


def test_a_terminal_is_for_an_entry(registry: Any) -> None:
    with pytest.raises(ValidationError, match="needs an entry command") as caught:
        Sandbox.create(backend="bubblewrap", name="desk", pty=True)
    assert caught.value.parameter == "pty"
    assert "exec" in str(caught.value.hint)
    wrong: Any = "yes"
    with pytest.raises(ValidationError, match="True, False or a Terminal"):
        Sandbox.create("sh", backend="bubblewrap", pty=wrong)
    assert Sandbox.list() == []


def test_gvisor_refuses_it(registry: Any) -> None:
    """As for any program, and nothing is left of the sandbox."""
    try:
        get_backend("gvisor").check()
    except BackendUnavailableError as error:
        pytest.skip(f"gVisor does not work here: {error.message}")
    with pytest.raises(UnsupportedError, match="pty is not supported by backend 'gvisor'"):
        Sandbox.create("sh", backend="gvisor", pty=True)
    assert Sandbox.list() == []
