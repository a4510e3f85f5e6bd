"""Steps of E2B's Python SDK: commands."""

import asyncio

import pytest
from e2b import (
    CommandExitException,
    NotFoundException,
    SandboxException,
    TimeoutException,
)

from tests.server.steps import Steps, World, do, sh

STEPS = Steps()
step = STEPS


@step
async def command(w: World) -> None:
    result = await sh(w, "echo out; echo err >&2")
    assert ("out\n", "err\n", 0) == (result.stdout, result.stderr, result.exit_code)


@step
async def command_that_fails(w: World) -> None:
    with pytest.raises(CommandExitException) as caught:
        await sh(w, "echo before; exit 3")
    assert (3, "before\n") == (caught.value.exit_code, caught.value.stdout)


@step
async def command_in_a_directory(w: World) -> None:
    assert "/tmp\n" == (await sh(w, "pwd", cwd="/tmp")).stdout


@step
async def command_in_a_missing_directory(w: World) -> None:
    with pytest.raises(SandboxException, match="directory"):
        await sh(w, "pwd", cwd="/no/such")


@step
async def command_with_variables(w: World) -> None:
    result = await sh(w, 'echo "$GIVEN $MORE"', envs={"MORE": "and more"})
    assert "here and more\n" == result.stdout


@step
async def command_at_home(w: World) -> None:
    assert "/home/user /home/user\n" == (await sh(w, "echo $HOME $PWD")).stdout


@step
async def command_with_callbacks(w: World) -> None:
    out: list[str] = []
    err: list[str] = []
    await sh(w, "echo a; echo b >&2", on_stdout=out.append, on_stderr=err.append)
    assert ("a\n", "b\n") == ("".join(out), "".join(err))


@step
async def command_with_much_output(w: World) -> None:
    result = await sh(w, "seq 200000")
    assert (1_288_895, "200000") == (len(result.stdout), result.stdout.split()[-1])


@step
async def command_with_characters_cut_in_two(w: World) -> None:
    result = await sh(w, r"printf '\xc3'; sleep 0.2; printf '\xa9\n'")
    assert "é\n" == result.stdout


@step
async def command_beyond_its_timeout(w: World) -> None:
    with pytest.raises(TimeoutException):
        await sh(w, "sleep 54321", timeout=1)
    for _ in range(50):
        if not (await sh(w, "pgrep -f 'sleep 5432[1]' || true")).stdout:
            return
        await asyncio.sleep(0.1)
    pytest.fail("the program goes on")


@step
async def command_as_another_user(w: World) -> None:
    with pytest.raises(SandboxException, match="one user"):
        await sh(w, "id", user="root")


@step
async def command_as_the_user(w: World) -> None:
    assert "65532\n" == (await sh(w, "id -u", user="user")).stdout


@step
async def command_that_is_killed_by_a_signal(w: World) -> None:
    with pytest.raises(CommandExitException) as caught:
        await sh(w, "kill -9 $$")
    assert -1 == caught.value.exit_code
    assert "signal: killed" == caught.value.error


@step
async def command_in_the_background(w: World) -> None:
    handle = await sh(w, "sleep 0.2; echo done", background=True)
    result = await do(handle.wait())
    assert ("done\n", 0) == (result.stdout, result.exit_code)


@step
async def list_of_commands(w: World) -> None:
    handle = await sh(w, "sleep 600", background=True, envs={"A": "b"}, cwd="/tmp")
    w.held["sleep"] = handle
    (found,) = [one for one in await do(w.box.commands.list()) if one.pid == handle.pid]
    assert ("/bin/bash", ["-l", "-c", "sleep 600"]) == (found.cmd, found.args)
    assert ({"A": "b"}, "/tmp") == (found.envs, found.cwd)


@step
async def kill_of_a_command(w: World) -> None:
    handle = w.held.pop("sleep")
    assert await do(w.box.commands.kill(handle.pid)) is True
    with pytest.raises(CommandExitException) as caught:
        await do(handle.wait())
    assert -1 == caught.value.exit_code


@step
async def kill_of_an_ended_command(w: World) -> None:
    handle = await sh(w, "true", background=True)
    await do(handle.wait())
    assert await do(w.box.commands.kill(handle.pid)) is False


@step
async def kill_of_an_unknown_command(w: World) -> None:
    assert await do(w.box.commands.kill(999_999)) is False


@step
async def kill_ends_descendants(w: World) -> None:
    handle = await sh(w, "sleep 43210 & sleep 43210", background=True)
    await do(handle.kill())
    # A killed process ends a moment later.
    look = "for n in $(seq 50); do pgrep -f 'sleep 4321[0]' > left || break; sleep 0.1; done"
    assert "" == (await sh(w, f"{look}; cat left; rm left")).stdout


@step
async def standard_input(w: World) -> None:
    handle = await sh(w, "read line; echo got $line", background=True, stdin=True)
    await do(w.box.commands.send_stdin(handle.pid, "something\n"))
    assert "got something\n" == (await do(handle.wait())).stdout


@step
async def end_of_standard_input(w: World) -> None:
    handle = await sh(w, "cat; echo end", background=True, stdin=True)
    await do(w.box.commands.send_stdin(handle.pid, "text "))
    await do(w.box.commands.close_stdin(handle.pid))
    assert "text end\n" == (await do(handle.wait())).stdout


@step
async def standard_input_is_empty_unless_asked_for(w: World) -> None:
    assert "end\n" == (await sh(w, "cat; echo end", timeout=20)).stdout


@step
async def standard_input_of_an_ended_command(w: World) -> None:
    handle = await sh(w, "true", background=True, stdin=True)
    await do(handle.wait())
    with pytest.raises(NotFoundException):
        await do(w.box.commands.send_stdin(handle.pid, "late"))


@step
async def streamed_standard_input(w: World) -> None:
    handle = await sh(w, "wc -c", background=True, stdin=True)

    if w.is_async:
        stream = w.box.commands.stream_input(handle.pid)
        for _ in range(3):
            await stream.send("12345")
        await stream.close()
    else:
        w.box.commands.stream_input(handle.pid, ["12345"] * 3)
    await do(w.box.commands.close_stdin(handle.pid))
    assert "15" == (await do(handle.wait())).stdout.strip()


@step
async def second_client_of_a_command(w: World) -> None:
    handle = await sh(w, "read x; echo later", background=True, stdin=True)
    other = await do(w.box.commands.connect(handle.pid))
    await do(w.box.commands.send_stdin(handle.pid, "\n"))
    assert "later\n" == (await do(other.wait())).stdout
    await do(handle.wait())


@step
async def command_outlives_its_client(w: World) -> None:
    handle = await sh(w, "sleep 0.5; echo x > /home/user/outlived", background=True)
    await do(handle.disconnect())
    for _ in range(50):
        if await do(w.box.files.exists("/home/user/outlived")):
            return
        await asyncio.sleep(0.1)
    pytest.fail("it was ended with its client")


@step
async def connect_to_an_ended_command(w: World) -> None:
    handle = await sh(w, "exit 0", background=True)
    await do(handle.wait())
    other = await do(w.box.commands.connect(handle.pid))
    assert 0 == (await do(other.wait())).exit_code


@step
async def connect_to_an_unknown_command(w: World) -> None:
    with pytest.raises(NotFoundException):
        await do(w.box.commands.connect(999_999))
