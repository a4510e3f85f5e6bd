"""Handles of sandboxes and of programs, where they are used up, let go of or cancelled."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Limits
from llm_sandbox.adapters import modal

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    Test = Callable[..., Coroutine[object, object, None]]


def awaited(test: Test) -> Callable[..., None]:
    """Run a test in an event loop of its own."""

    @functools.wraps(test)
    def run(*args: object, **fixtures: object) -> None:
        asyncio.run(test(*args, **fixtures))

    return run


@pytest.fixture(scope="module")
def sandbox() -> Iterator[modal.Sandbox]:
    """One for all tests that leave it as it was."""
    app = modal.App.lookup("handles", create_if_missing=True)
    made = modal.Sandbox.create(app=app, block_network=True)
    yield made
    made.terminate()


def living(app: modal.App) -> list[str]:
    return [one.object_id for one in modal.Sandbox.list(app_id=app.app_id)]


# --- streams


def test_reading_goes_on_where_it_stopped(sandbox: modal.Sandbox) -> None:
    """Whichever way of reading comes next, nothing is lost and nothing comes twice."""
    lines = sandbox.exec("seq", "5", bufsize=1)
    assert "1\n" == next(lines.stdout)
    assert "2\n" == next(iter(lines.stdout))
    assert "3\n4\n5\n" == lines.stdout.read()
    assert "" == lines.stdout.read()
    assert [] == list(lines.stdout)
    with pytest.raises(StopIteration):
        next(lines.stdout)


@awaited
async def test_reading_goes_on_after_a_cancelled_one(sandbox: modal.Sandbox) -> None:
    process = await sandbox.exec.aio("sh", "-c", "echo one; read word; echo $word", bufsize=1)
    assert "one\n" == await anext(aiter(process.stdout))
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(process.stdout.read.aio(), 0.3)
    process.stdin.write("two\n")
    await process.stdin.drain.aio()
    assert "two\n" == await process.stdout.read.aio()


def test_what_is_not_kept_is_told() -> None:
    """A reader never takes a cut stream for a whole one."""
    modal.configure(limits=Limits(output_bytes=1000))
    app = modal.App.lookup("handles", create_if_missing=True)
    small = modal.Sandbox.create(app=app, block_network=True)
    process = small.exec("sh", "-c", "head -c 5000 /dev/zero")
    with pytest.raises(modal.exception.ResourceExhaustedError, match="4000 bytes"):
        process.stdout.read()
    assert 0 == process.wait()
    assert "x" * 1000 == small.exec("sh", "-c", "printf '%01000d' 0 | tr 0 x").stdout.read()
    small.terminate()


def test_character_is_never_split(sandbox: modal.Sandbox) -> None:
    code = r"import os, time; os.write(1, b'\xc3'); time.sleep(0.3); os.write(1, b'\xa4\xe2')"
    process = sandbox.exec("python3", "-c", code)
    pieces = iter(process.stdout)
    assert "ä" == next(pieces)
    with pytest.raises(UnicodeDecodeError):
        next(pieces)


def test_input_waits_for_drain(sandbox: modal.Sandbox) -> None:
    process = sandbox.exec("cat", text=False)
    process.stdin.write(bytes(16 << 20))
    with pytest.raises(BufferError):
        process.stdin.write(b"x")
    with pytest.raises(TypeError):
        process.stdin.write(5)  # type: ignore[arg-type]
    process.stdin.drain()
    process.stdin.write("é")
    process.stdin.write_eof()
    process.stdin.drain()
    process.stdin.drain()
    assert bytes(10 << 20) == b"".join(_take(process, 10 << 20))
    assert 0 == process.wait()


def _take(process: modal.ContainerProcess[bytes], size: int) -> Iterator[bytes]:
    """The first bytes, as the rest is more than is kept."""
    with contextlib.suppress(modal.exception.ResourceExhaustedError):
        for piece in process.stdout:
            yield piece[:size]
            size -= len(piece[:size])


def test_nobody_reads_any_more(sandbox: modal.Sandbox) -> None:
    process = sandbox.exec("true")
    assert 0 == process.wait()
    process.stdin.write("late")
    with pytest.raises(ValueError, match="ended"):
        process.stdin.drain()


def test_sandbox_without_a_program_has_no_input(sandbox: modal.Sandbox) -> None:
    sandbox.stdin.write("x")
    with pytest.raises(modal.exception.InvalidError, match="entrypoint"):
        sandbox.stdin.drain()


# --- programs


def test_programs_that_do_not_start(sandbox: modal.Sandbox) -> None:
    with pytest.raises(modal.exception.NotFoundError):
        sandbox.exec("no-such-program")
    with pytest.raises(modal.exception.NotFoundError):
        sandbox.exec("true", workdir="/no/such/folder")
    with pytest.raises(modal.exception.ExecutionError):
        sandbox.exec("/etc/passwd")
    with pytest.raises(modal.exception.InvalidError):
        sandbox.exec("true", workdir="relative")
    with pytest.raises(modal.exception.InvalidError):
        sandbox.exec("echo", "x" * 65_536)
    with pytest.raises(modal.exception.InvalidError):
        sandbox.exec()


@awaited
async def test_cancelled_exec_leaves_no_program(sandbox: modal.Sandbox) -> None:
    mark = "cancelled-exec-of-tests"
    task = asyncio.create_task(sandbox.exec.aio("sh", "-c", f": {mark}; sleep 100"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    look = f"ps ax | grep [c]{mark[1:]} || true"
    assert "" == sandbox.exec("sh", "-c", look).stdout.read()


@awaited
async def test_cancelled_wait_leaves_the_program(sandbox: modal.Sandbox) -> None:
    process = await sandbox.exec.aio("cat")
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(process.wait.aio(), 0.3)
    assert await process.poll.aio() is None
    process.stdin.write_eof()
    await process.stdin.drain.aio()
    assert 0 == await process.wait.aio()


# --- sandboxes


@awaited
async def test_cancelled_create_leaves_no_sandbox() -> None:
    app = modal.App.lookup("cancelled", create_if_missing=True)
    for _ in range(10):
        task = asyncio.create_task(modal.Sandbox.create.aio(app=app, block_network=True))
        await asyncio.sleep(0.1)
        if task.cancel():
            break
        (await task).terminate()  # it was made before it could be cancelled
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [] == living(app)


def test_handle_that_has_let_go() -> None:
    app = modal.App.lookup("let-go", create_if_missing=True)
    with modal.Sandbox.create("sh", "-c", "sleep 1; exit 4", app=app, block_network=True) as one:
        assert one.poll() is None
    with pytest.raises(modal.exception.ClientClosed, match="let go"):
        one.exec("true")
    with pytest.raises(modal.exception.ClientClosed):
        one.poll()
    one.wait()
    assert 4 == one.returncode


def test_handle_of_one_that_has_ended() -> None:
    app = modal.App.lookup("over", create_if_missing=True)
    one = modal.Sandbox.create("true", app=app, block_network=True)
    one.wait()
    again = modal.Sandbox.from_id(one.object_id)
    assert (0, 0) == (again.returncode, again.poll())
    again.wait()
    again.terminate()
    for use in (again.get_tags, again.tunnels, lambda: again.stdout, lambda: again.exec("true")):
        with pytest.raises(modal.exception.ConflictError):
            use()


def test_end_of_an_app_that_ran() -> None:
    app = modal.App("short")
    with app.run():
        modal.Sandbox.create(app=app, block_network=True)
        assert 1 == len(living(app))
        namespace = app.app_id
    assert [] == list(modal.Sandbox.list(app_id=namespace))


def test_others_are_not_listed() -> None:
    """A sandbox that was not created here is none of these, and lives on."""
    from llm_sandbox import Sandbox

    with Sandbox.create(name="of-somebody-else", namespace="modality") as other:
        assert other.id not in [one.object_id for one in modal.Sandbox.list()]
        assert other.poll() is None


def test_snapshot_that_takes_too_long(sandbox: modal.Sandbox) -> None:
    with pytest.raises(modal.exception.InvalidError):
        sandbox.snapshot_directory("relative")
    with pytest.raises(modal.exception.SandboxTimeoutError, match="took more"):
        sandbox.snapshot_directory("/root", timeout=1e-6)  # type: ignore[arg-type]


def test_directory_comes_back(sandbox: modal.Sandbox) -> None:
    sandbox.filesystem.write_text("kept", "/root/saved/file.txt")
    image = sandbox.snapshot_directory("/root")
    app = modal.App.lookup("saved", create_if_missing=True)
    other = modal.Sandbox.create("cat", "/root/saved/file.txt", app=app, image=image)
    assert "kept" == other.stdout.read()
    again = modal.Image.from_id(str(image.object_id))
    third = modal.Sandbox.create("cat", "/root/saved/file.txt", app=app, image=again)
    assert "kept" == third.stdout.read()


def test_stream_of_a_sandbox_without_a_program_ends_with_it() -> None:
    app = modal.App.lookup("silent", create_if_missing=True)
    one = modal.Sandbox.create(app=app, block_network=True, timeout=1)
    assert "" == one.stdout.read()
    assert 124 == one.poll()
