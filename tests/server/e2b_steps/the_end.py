"""Steps of E2B's Python SDK: the ends of sandboxes."""

import asyncio
import time
import urllib.error
import urllib.request

import pytest
from e2b import (
    SandboxException,
    TimeoutException,
)

from tests.server.steps import Steps, World, code, do

STEPS = Steps()
step = STEPS


@step
async def wrong_token_for_a_sandbox(w: World) -> None:
    headers = {"X-Access-Token": "0" * 40}
    other = await do(w.kind.connect(w.box.sandbox_id, timeout=10))
    asked = urllib.request.Request(f"{other.envd_api_url}/files?path=a", headers=headers)
    asked.add_header("E2b-Sandbox-Id", other.sandbox_id)
    asked.add_header("E2b-Sandbox-Port", "49983")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        await asyncio.to_thread(urllib.request.urlopen, asked, timeout=20)


@step
async def kill_in_the_middle_of_code(w: World) -> None:
    box = await do(w.kind.create(timeout=60))

    def kill() -> None:
        from e2b_code_interpreter import Sandbox

        Sandbox.kill(box.sandbox_id)

    loop = asyncio.get_running_loop()
    ended = loop.run_in_executor(None, lambda: (time.sleep(1), kill()))
    with pytest.raises(Exception, match=r"(?i)killed|not found|not running|end of life"):
        await do(box.run_code("import time; time.sleep(60)"))
    await ended


@step
async def kill_in_the_middle_of_a_command(w: World) -> None:
    box = await do(w.kind.create(timeout=60))
    handle = await do(box.commands.run("sleep 60", background=True))
    assert await do(box.kill()) is True
    with pytest.raises(Exception, match=r"(?i)killed|not found|not running|end of life|timeout"):
        await do(handle.wait())


@step
async def timeout_ends_a_sandbox(w: World) -> None:
    box = await do(w.kind.create(timeout=1))
    for _ in range(200):
        if not await do(box.is_running()):
            break
        await asyncio.sleep(0.1)
    with pytest.raises((TimeoutException, SandboxException)):
        await do(box.commands.run("true"))
    assert await do(box.kill()) is False


@step
async def kill(w: World) -> None:
    assert await do(w.box.kill()) is True


@step
async def kill_again(w: World) -> None:
    assert await do(w.box.kill()) is False


@step
async def is_running_after_the_end(w: World) -> None:
    assert await do(w.box.is_running()) is False


@step
async def code_after_the_end(w: World) -> None:
    with pytest.raises((TimeoutException, SandboxException)):
        await code(w, "1")


@step
async def files_after_the_end(w: World) -> None:
    with pytest.raises(SandboxException):
        await do(w.box.files.read("a.txt"))
