"""Cancellation of awaited calls and its effect in the sandbox, under asyncio and trio."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anyio
import pytest

from llm_sandbox import PIPE, aio
from llm_sandbox.const import RunStatus
from llm_sandbox.exceptions import SessionBusyError

RunAsync = Callable[[Callable[[], Awaitable[Any]]], Any]
ROOT = Path(__file__).resolve().parents[2]


def processes(marker: str) -> list[str]:
    """Processes of this machine, those in sandboxes included, that have a word in their command."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in words:
            found.append(path.parent.name)
    return found


async def gone(marker: str) -> None:
    with anyio.fail_after(10):
        while processes(marker):  # noqa: ASYNC110 - nothing tells of a process that is no child
            await anyio.sleep(0.02)


async def there(marker: str) -> None:
    with anyio.fail_after(10):
        while not processes(marker):  # noqa: ASYNC110 - as above
            await anyio.sleep(0.02)


async def cancelled_when(
    call: Callable[[], Awaitable[object]], ready: Callable[[], Awaitable[object]]
) -> None:
    """Cancel a call as soon as `ready` has returned."""
    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await ready()
        group.cancel_scope.cancel()


@pytest.mark.parametrize(
    "code",
    ["while True: pass", "import time; time.sleep(60)", "sum(range(10**13))"],
    ids=["loop", "sleep", "c-loop"],
)
def test_a_cancelled_run_stops_its_code(run_async: RunAsync, code: str) -> None:
    """The code is stopped, the session is not busy, and it is used again at once."""

    async def main() -> None:
        async with aio.create_session("bubblewrap") as session:
            begun = anyio.Event()

            async def heard(_: str) -> None:
                begun.set()

            await cancelled_when(
                lambda: session.run(f"print(1, flush=True)\n{code}", on_stdout=heard), begun.wait
            )
            assert "2" == (await session.run("1 + 1")).value

    run_async(main)


def test_a_run_can_be_given_a_time(run_async: RunAsync) -> None:
    """The event loop's own timeouts stop code, and keep the variables of code that answers."""

    async def main() -> None:
        async with aio.create_session("bubblewrap") as session:
            await session.run("v = 3")
            with anyio.move_on_after(0.3) as scope:
                await session.run("while True: pass")
            assert scope.cancelled_caught
            assert "3" == (await session.run("v")).value

    run_async(main)


def test_a_task_of_asyncio_is_cancelled(loop: str) -> None:
    """`Task.cancel`, which knows nothing of anyio's scopes, stops code as well."""
    if loop != "asyncio":
        pytest.skip("tasks of asyncio exist under asyncio alone")
    import asyncio

    async def main() -> None:
        async with aio.create_session("bubblewrap") as session:
            begun = asyncio.Event()
            at = asyncio.get_running_loop()
            task = asyncio.create_task(
                session.run(
                    "print(1, flush=True)\nwhile True: pass",
                    on_stdout=lambda _: at.call_soon_threadsafe(begun.set) and None,
                )
            )
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert "2" == (await session.run("1 + 1")).value

    asyncio.run(asyncio.wait_for(main(), 60))


def test_interrupt_ends_the_run_of_another_task(run_async: RunAsync) -> None:
    async def main() -> None:
        async with aio.create_session("bubblewrap") as session:

            async def stop(_: str) -> None:
                await session.interrupt()

            result = await session.run("print(1, flush=True)\nwhile True: pass", on_stdout=stop)
            assert (RunStatus.KILLED, 130) == (result.status, result.exit_code)

    run_async(main)


@pytest.mark.parametrize("busy", ["wait", "raise"])
def test_another_run_does_not_stop_the_first(run_async: RunAsync, busy: Any) -> None:
    """A second task's run waits, or is refused; cancelling that leaves the first one alone, and
    what waited is never run.
    """

    async def main() -> None:
        async with aio.create_session("bubblewrap", busy=busy) as session:
            results = []
            await session.run("ran = []")

            async def first() -> None:
                results.append(await session.run("import time; time.sleep(1); 'whole'"))

            async with anyio.create_task_group() as group:
                group.start_soon(first)
                await anyio.sleep(0.3)
                refused = pytest.raises(SessionBusyError) if busy == "raise" else nullcontext()
                for wait in (0.001, 0.02) * 10:
                    with anyio.move_on_after(wait), refused:
                        await session.run("ran.append(1)")
                        assert results, "it did not wait"
            assert "'whole'" == results[0].value
            assert "[]" == (await session.run("ran")).value

    run_async(main)


def test_tasks_wait_for_each_other(run_async: RunAsync) -> None:
    """Each has the session to itself, in the order in which they came."""

    async def main() -> None:
        async with aio.create_session("bubblewrap") as session:
            await session.run("import time; seen = []")

            async def add(number: int) -> None:
                await session.run(f"seen.append({number}); time.sleep(0.2); seen.append({number})")

            async with anyio.create_task_group() as group:
                for number in range(4):
                    group.start_soon(add, number)
                    await anyio.sleep(0.05)
            assert "[0, 0, 1, 1, 2, 2, 3, 3]" == (await session.run("seen")).value

    run_async(main)


def test_a_callback_cannot_wait_for_its_own_run(run_async: RunAsync) -> None:
    """It would wait for ever; it is refused at once, and the run goes on."""

    async def main() -> None:
        async with aio.create_session("bubblewrap") as session:
            refused = []

            async def more(_: str) -> None:
                with pytest.raises(SessionBusyError, match="waits for this call"):
                    await session.run("1")
                refused.append(True)

            result = await session.run("print(1)", on_stdout=more)
            assert ("1\n", [True]) == (result.stdout, refused)
            assert "2" == (await session.run("1 + 1")).value

    run_async(main)


def test_closing_in_another_task_ends_the_run(run_async: RunAsync) -> None:
    async def main() -> None:
        session = aio.create_session("bubblewrap")
        await session.open()

        async def close(_: str) -> None:
            group.start_soon(session.close)

        async with anyio.create_task_group() as group:
            result = await session.run("print(1, flush=True)\nwhile True: pass", on_stdout=close)
        assert RunStatus.KILLED is result.status
        assert not session.is_open

    run_async(main)


def test_a_callback_closes_its_session(run_async: RunAsync) -> None:
    """The run is stopped, its result is whole, and the sandbox is gone with it."""

    async def main() -> None:
        session = aio.create_session("bubblewrap")
        await session.open()
        mark = f"64{os.getpid()}"

        async def close(_: str) -> None:
            await session.close()

        result = await session.run(
            f"import subprocess; _ = subprocess.Popen(['sleep', '{mark}'])\n"
            "print(1, flush=True)\nwhile True: pass",
            on_stdout=close,
        )

        assert (RunStatus.KILLED, "1\n") == (result.status, result.stdout)
        assert not session.is_open
        assert [] == processes(mark)

    run_async(main)


def test_a_cancelled_open_leaves_no_session(run_async: RunAsync) -> None:
    async def main() -> None:
        for wait in (0.0, 0.001, 0.01, 0.1):
            session = aio.create_session("bubblewrap", start="cold")
            with anyio.move_on_after(wait):
                async with session:
                    await anyio.sleep_forever()
            assert not session.is_open

    run_async(main)


def test_cancelled_commands_are_killed(run_async: RunAsync) -> None:
    """`execute_command`, `execute_commands` and `check` kill what they started."""

    async def main() -> None:
        async with aio.create_session("bubblewrap") as session:
            for number, call in enumerate(
                (
                    lambda mark: session.execute_command(["sleep", mark]),
                    lambda mark: session.execute_commands([f"exec sleep {mark}", "touch next"]),
                    lambda mark: session.execute_command(f"sleep {mark} & wait", on_stdout=print),
                    lambda mark: session.sandbox.check("sleep", mark),
                )
            ):
                mark = f"60{os.getpid()}{number}"
                await cancelled_when(lambda c=call, m=mark: c(m), lambda m=mark: there(m))
                assert [] == processes(mark)
            assert not await session.sandbox.files.exists("next")

    run_async(main)


def test_a_cancelled_wait_leaves_the_process(run_async: RunAsync) -> None:
    """Nor do `collect`, reading and writing end it; each can be asked again."""

    async def main() -> None:
        async with await aio.AsyncSandbox.create(backend="bubblewrap") as sandbox:
            process = await sandbox.sh("echo one; sleep 1; echo two; exit 3", stdin=PIPE)
            assert process.stdin is not None

            async def read() -> None:
                async for _ in process.stdout:
                    pass

            for call in (
                process.wait,
                process.collect,
                process.stderr.read,
                read,
                process.stdin.drain,
            ):
                with anyio.move_on_after(0.05):
                    await call()
                assert await process.poll() is None
            assert 3 == await process.wait()
            assert ["one", "two"] == [line async for line in process.stdout.lines()]
            assert "one\ntwo\n" == (await process.collect()).stdout

    run_async(main)


def test_a_cancelled_exec_leaves_no_process(run_async: RunAsync) -> None:
    async def main() -> None:
        async with await aio.AsyncSandbox.create(backend="bubblewrap") as sandbox:
            mark = f"61{os.getpid()}"
            for number in range(20):
                process = None
                with anyio.move_on_after(number * 0.0005):
                    process = await sandbox.exec("sleep", mark)
                if process is not None:
                    await process.kill()
            await gone(mark)

    run_async(main)


def test_a_cancelled_block_destroys_its_sandbox(run_async: RunAsync) -> None:
    async def main() -> None:
        mark = f"62{os.getpid()}"
        with anyio.move_on_after(0.5):
            async with await aio.AsyncSandbox.create(backend="bubblewrap") as sandbox:
                await sandbox.exec("sleep", mark)
                await there(mark)
                await anyio.sleep_forever()
        await gone(mark)

    run_async(main)


PROGRAM = """
import signal, threading, os
import anyio
from llm_sandbox import aio

def interrupt(_):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()

async def main():
    async with aio.create_session("bubblewrap") as session:
        process = await session.sandbox.exec("sleep", "{mark}")
        await session.run("print(1, flush=True)\\nwhile True: pass", on_stdout=interrupt)

anyio.run(main, backend="{loop}")
"""


@pytest.mark.parametrize(
    "program",
    [PROGRAM, PROGRAM.replace("while True: pass", "sum(range(10**13))")],
    ids=["loop", "c-loop"],
)
def test_ctrl_c_leaves_nothing(loop: str, program: str) -> None:
    """An interrupted program ends by its KeyboardInterrupt, soon, and leaves no process."""
    mark = f"63{os.getpid()}"
    done = subprocess.run(
        [sys.executable, "-c", program.format(mark=mark, loop=loop)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert "KeyboardInterrupt" in done.stderr
    assert done.returncode in (1, -signal.SIGINT), done.stderr
    deadline = time.monotonic() + 10
    while processes(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [] == processes(mark)


def test_a_given_up_wait_does_not_keep_the_program_alive(loop: str) -> None:
    """A program ends although a wait for a process that goes on was cancelled."""
    program = (
        "import anyio\nfrom llm_sandbox import aio\n"
        "async def main():\n"
        "    sandbox = await aio.AsyncSandbox.create(backend='bubblewrap')\n"
        "    process = await sandbox.exec('sleep', '600')\n"
        "    for wait in (process.wait, process.collect, process.stdout.read):\n"
        "        with anyio.move_on_after(0.05): await wait()\n"
        f"anyio.run(main, backend={loop!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (0, "") == (done.returncode, done.stderr)
