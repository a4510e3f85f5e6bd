"""Waiting until a sandbox is ready."""

import threading
import time

import pytest

from llm_sandbox import (
    CommandReady,
    PortReady,
    Sandbox,
    SandboxError,
    SandboxTimeoutError,
    ValidationError,
)
from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.exceptions import CommandEmptyError, ContainerGoneError, SessionClosedError

BACKENDS = [
    "bubblewrap",
    pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
    pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
]
SERVER = """
import os, socket, time
while not os.path.exists("go"):
    time.sleep(0.02)
listener = socket.create_server(("127.0.0.1", 8000))
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def own_registry(tmp_path, monkeypatch):
    """The folder of this test's detached sandboxes."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Each backend that isolates."""
    return request.param


def soon(call, seconds=0.3):
    """Make a call a little later, in a thread."""
    thread = threading.Timer(seconds, call)
    thread.start()
    return thread


def test_a_port_that_is_listened_at_later(backend):
    """Not before, with the reason; then at once, and so for a handle that has the name only."""
    command = ("python3", "-c", SERVER)
    options = {"backend": backend, "name": "ready-port", "ready": PortReady(8000)}
    with Sandbox.create(*command, **options) as sandbox:
        with pytest.raises(SandboxTimeoutError) as caught:
            sandbox.wait_until_ready(0.3)
        assert 0.3 == caught.value.timeout_duration
        for words in ("port 8000", "refused", "its entry command still runs", "0.3 s"):
            assert words in caught.value.message
        timer = soon(lambda: sandbox.files.write_text("go", ""))
        sandbox.wait_until_ready()
        timer.join()
        found = Sandbox.from_name("ready-port")
        found.wait_until_ready(10)
        attached = Sandbox.attach(sandbox.id)
        attached.wait_until_ready(None)
        for one in (found, attached):
            one.detach()


def test_a_command_that_succeeds_later(backend):
    """With the sandbox's variables; in a sandbox of this process."""
    probe = CommandReady("sh", "-c", 'test "$COLOUR" = red && test -e go', every=0.05)
    with Sandbox.create(backend=backend, env={"COLOUR": "red"}, ready=probe) as sandbox:
        with pytest.raises(SandboxTimeoutError) as caught:
            sandbox.wait_until_ready(0.5)
        assert "the command 'sh': it ended with 1" in caught.value.message
        assert "it has no entry command" in caught.value.message
        # What its arguments are is nobody's business.
        assert "COLOUR" not in caught.value.message
        timer = soon(lambda: sandbox.files.write_text("go", ""))
        sandbox.wait_until_ready()
        timer.join()


def test_a_sandbox_that_ends_first_is_told_at_once(backend):
    """By its entry's end, with the exit code, long before the time is up."""
    command = ("sh", "-c", "sleep 0.5; exit 7")
    with Sandbox.create(*command, backend=backend, ready=PortReady(8000)) as sandbox:
        with pytest.raises(ContainerGoneError) as caught:
            sandbox.wait_until_ready(3600)
        for words in ("exited", "port 8000", "its entry command ended with 7"):
            assert words in caught.value.message


@pytest.mark.parametrize("ready", [PortReady(1), CommandReady("false")])
def test_so_is_one_that_somebody_terminates(ready):
    with Sandbox.create(backend="bubblewrap", tags={}, ready=ready) as sandbox:
        timer = soon(Sandbox.attach(sandbox.id).terminate)
        with pytest.raises(ContainerGoneError, match="terminated"):
            sandbox.wait_until_ready(None)
        timer.join()


def test_a_sandbox_of_this_process_that_ends_by_its_timeout():
    with (
        Sandbox.create(backend="bubblewrap", timeout=0.5, ready=PortReady(1)) as sandbox,
        pytest.raises(ContainerGoneError, match="deadline"),
    ):
        sandbox.wait_until_ready(None)


def test_a_command_that_hangs_is_ended_with_the_wait():
    """And one that cannot be started is a failure like any other."""
    ready = CommandReady("sleep", "600")
    with Sandbox.create(backend="bubblewrap", ready=ready) as sandbox:
        with pytest.raises(SandboxTimeoutError, match="ended with 124"):
            sandbox.wait_until_ready(0.5)
        assert [] == sandbox.processes()
    with (
        Sandbox.create(backend="bubblewrap", ready=CommandReady("no-such-program")) as sandbox,
        pytest.raises(SandboxTimeoutError, match="did not start: not_found"),
    ):
        sandbox.wait_until_ready(0.3)


def test_without_a_probe_or_a_handle_there_is_nothing_to_wait_for():
    sandbox = Sandbox.create(backend="bubblewrap")
    with pytest.raises(ValidationError, match="ready="):
        sandbox.wait_until_ready()
    sandbox.destroy()
    sandbox = Sandbox.create(backend="bubblewrap", ready=CommandReady("true"))
    sandbox.destroy()
    with pytest.raises(SessionClosedError):
        sandbox.wait_until_ready()


@pytest.mark.parametrize("make", [PortReady, lambda port, **rest: PortReady(port=port, **rest)])
@pytest.mark.parametrize("port", [0, -1, 65536, "80", True, None, 1.5])
def test_ports_that_are_none(make, port):
    with pytest.raises(ValidationError):
        make(port)


@pytest.mark.parametrize("every", [0, -1, True, "1", float("nan"), float("inf"), 3601])
def test_pauses_that_are_none(every):
    for make in (lambda: PortReady(1, every), lambda: CommandReady("a", every=every)):
        with pytest.raises(ValidationError) as caught:
            make()
        assert "every" == caught.value.parameter


def test_commands_that_are_none():
    with pytest.raises(CommandEmptyError):
        CommandReady()
    with pytest.raises(ValidationError):
        CommandReady("a", 7)
    with pytest.raises(ValidationError):
        Sandbox.create(backend="bubblewrap", ready=8000)
    assert CommandReady("a", "b") == CommandReady("a", "b") != CommandReady("a")


@pytest.mark.anyio
async def test_the_awaitable_twin():
    """Waits, is told, and can be cancelled."""
    import anyio

    ready = CommandReady("test", "-e", "go")
    async with await AsyncSandbox.create(backend="bubblewrap", ready=ready) as sandbox:
        with pytest.raises(SandboxTimeoutError):
            await sandbox.wait_until_ready(0.2)
        with anyio.move_on_after(0.3) as scope:
            await sandbox.wait_until_ready(None)
        assert scope.cancelled_caught
        async with anyio.create_task_group() as group:
            group.start_soon(sandbox.wait_until_ready)
            await sandbox.files.write_text("go", "")


def test_a_wait_that_was_given_up_looks_no_more():
    """The thread of a cancelled wait ends by itself."""
    from llm_sandbox.sandbox.readiness import wait_until

    class GivenUpError(Exception):
        pass

    looks = []

    def check():
        looks.append(time.monotonic())
        if len(looks) > 3:
            raise GivenUpError

    with Sandbox.create(backend="bubblewrap") as sandbox, pytest.raises(GivenUpError):
        wait_until(sandbox, PortReady(1, every=60), None, check)


def test_errors_travel_as_data():
    with (
        Sandbox.create(backend="bubblewrap", ready=PortReady(1)) as sandbox,
        pytest.raises(SandboxTimeoutError) as caught,
    ):
        sandbox.wait_until_ready(0.1)
    again = SandboxError.from_dict(caught.value.to_dict())
    assert isinstance(again, SandboxTimeoutError)
    assert "wait_until_ready" == again.op
