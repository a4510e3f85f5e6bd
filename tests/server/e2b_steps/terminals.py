"""Steps of E2B's Python SDK: terminals."""

import pytest
from e2b import (
    CommandExitException,
)
from e2b.sandbox.commands.command_handle import PtySize

from tests.server.steps import Steps, World, do

STEPS = Steps()
step = STEPS


@step
async def terminal(w: World) -> None:
    seen: list[bytes] = []
    size = PtySize(rows=30, cols=100)
    if w.is_async:
        handle = await w.box.pty.create(size, on_data=seen.append, timeout=60)
    else:
        handle = w.box.pty.create(size, timeout=60)
    w.held["pty"], w.held["seen"] = handle, seen
    await do(w.box.pty.send_stdin(handle.pid, b"stty size; tty -s && echo terminal\n"))
    assert handle.pid > 0


@step
async def terminal_changes_its_size(w: World) -> None:
    handle = w.held["pty"]
    await do(w.box.pty.resize(handle.pid, PtySize(rows=40, cols=120)))
    await do(w.box.pty.send_stdin(handle.pid, b"stty size; exit 0\n"))


@step
async def terminal_shows_what_was_typed(w: World) -> None:
    handle, seen = w.held.pop("pty"), w.held.pop("seen")
    if w.is_async:
        await handle.wait()
    else:
        handle.wait(on_pty=seen.append)
    shown = b"".join(bytes(piece) for piece in seen)
    assert b"terminal" in shown
    assert b"40 120" in shown


@step
async def kill_of_a_terminal(w: World) -> None:
    size = PtySize(rows=24, cols=80)
    more = {"on_data": lambda data: None} if w.is_async else {}
    handle = await do(w.box.pty.create(size, timeout=60, **more))
    assert await do(w.box.pty.kill(handle.pid)) is True
    with pytest.raises(CommandExitException):
        await do(handle.wait())
