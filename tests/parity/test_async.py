"""Specifics of async code: awaited callbacks, and concurrency in one event loop."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from llm_sandbox import PIPE, Limits, aio

RunAsync = Callable[[Callable[[], Awaitable[Any]]], Any]


def test_lines_arrive_as_they_are_written(run_async: RunAsync) -> None:
    async def main() -> None:
        async with await aio.AsyncSandbox.create(backend="bubblewrap") as sandbox:
            process = await sandbox.exec("cat", stdin=PIPE)
            assert process.stdin is not None
            await process.stdin.write("start\n")
            heard = []
            async for line in process.stdout.lines():
                heard.append(line)
                if len(heard) == 3:
                    await process.stdin.write_eof()
                else:
                    await process.stdin.write(f"{line}!\n")
            assert ["start", "start!", "start!!"] == heard

    run_async(main)


def test_async_callbacks_hear_in_order(run_async: RunAsync) -> None:
    """A coroutine function hears each piece before the next; what it raises is raised by `run`."""

    async def main() -> None:
        async with aio.create_session("bubblewrap", limits=Limits(output_bytes=1 << 16)) as session:
            heard = []

            async def hear(piece: str) -> None:
                await anyio.sleep(0.001)
                heard.append(piece)

            code = "for i in range(20): print(i, flush=True)"
            result = await session.run(code, on_stdout=hear)
            assert result.stdout == "".join(heard)

            heard.clear()
            done = await session.execute_command("seq 5; echo no >&2", None, hear, hear)
            assert sorted(done.stdout + done.stderr) == sorted("".join(heard))

            async def fail(_: str) -> None:
                raise LookupError("its own")

            with pytest.raises(LookupError, match="its own"):
                await session.run("print(1)", on_stdout=fail)

    run_async(main)


def test_sessions_do_not_wait_for_each_other(run_async: RunAsync) -> None:
    """Eight runs at once in one event loop: the quick ones are over while the slow ones sleep."""

    async def main() -> None:
        ended: list[str] = []

        async def one(name: str, seconds: float) -> None:
            async with aio.create_session("bubblewrap") as session:
                await ready(name)
                result = await session.run(f"import time; time.sleep({seconds}); {name!r}")
                ended.append(str(result.value))

        waiting: set[str] = set()
        all_ready = anyio.Event()

        async def ready(name: str) -> None:
            waiting.add(name)
            if len(waiting) == 8:
                all_ready.set()
            await all_ready.wait()

        async with anyio.create_task_group() as group:
            for number in range(4):
                group.start_soon(one, f"slow {number}", 1.5)
                group.start_soon(one, f"quick {number}", 0)
        assert ["quick"] * 4 + ["slow"] * 4 == [name.strip("'").split()[0] for name in ended]

    run_async(main)


def test_waits_never_keep_a_kill_waiting(run_async: RunAsync) -> None:
    """As many waits as there are threads, and more, leave room for what ends them."""

    async def main() -> None:
        limits = Limits(processes=400)
        async with await aio.AsyncSandbox.create(backend="bubblewrap", limits=limits) as sandbox:
            process = await sandbox.exec("sleep", "60")
            async with anyio.create_task_group() as group:
                for _ in range(100):
                    group.start_soon(process.wait)
                await anyio.sleep(0.3)
                assert await process.kill()

    run_async(main)
