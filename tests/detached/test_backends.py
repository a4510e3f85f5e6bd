"""The same on every backend: a process makes a sandbox and is gone, and another one goes on."""

from __future__ import annotations

import os
import signal
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox, SandboxError
from llm_sandbox.exceptions import NameInUseError, SandboxNotFoundError
from tests.detached.conftest import until
from tests.plugins.cluster import POD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

BACKENDS = [
    "bubblewrap",
    pytest.param("docker", marks=pytest.mark.engine("docker", "python")),
    pytest.param("podman", marks=pytest.mark.engine("podman", "python")),
    "local",
    POD,
]

MAKER = """
import sys, time
from llm_sandbox import Sandbox
sandbox = Sandbox.create(
    "sh", "-c", "echo entry began; read word; echo heard $word; sleep 600",
    backend={backend!r}, name="whole-{backend}", tags={{"of": {backend!r}, "step": "1"}},
    env={{"GREETING": "hello"}}, secrets={{"TOKEN": "s3cr3t-value"}}, on_exit="keep",
)
sandbox.files.write_text("kept.txt", "as it was")
process = sandbox.exec("sh", "-c", "echo one; echo two >&2; sleep 600")
ended = sandbox.exec("sh", "-c", "echo gone; exit 7")
ended.wait()
print(sandbox.id, process.id, ended.id)
time.sleep(600)
"""


@pytest.fixture(params=BACKENDS)
def made(
    request: pytest.FixtureRequest, registry: Any, client: Callable[[str], Any]
) -> Iterator[tuple[str, list[str]]]:
    """A backend, and ids: of a sandbox whose maker was killed, of a program of it, of another."""
    warnings.filterwarnings("ignore", message=".*does not isolate")
    maker = client(MAKER.format(backend=request.param))
    ids = maker.line().split()
    maker.process.send_signal(signal.SIGKILL)
    maker.process.wait()
    yield request.param, ids
    for sandbox in Sandbox.list(tags={"of": request.param}):
        sandbox.destroy()


def test_another_process_goes_on(made: tuple[str, list[str]], registry: Any) -> None:
    backend, (sandbox_id, running_id, ended_id) = made
    sandbox = Sandbox.attach(sandbox_id)
    by_name = Sandbox.from_name(f"whole-{backend}")
    assert (sandbox.id, sandbox.backend, by_name.id) == (sandbox_id, backend, sandbox_id)
    assert dict(sandbox.tags) == {"of": backend, "step": "1"}

    # Environment, secrets, working directory and files are what they were.
    said = sandbox.check("sh", "-c", "echo $GREETING $TOKEN; pwd; cat kept.txt").stdout
    assert said == f"hello s3cr3t-value\n{sandbox.workdir}\nas it was"
    by_name.files.write_bytes("big", bytes(range(256)) * 8192)
    assert sandbox.files.read_bytes("big") == bytes(range(256)) * 8192

    # Programs of the process that was killed: one runs on, one has ended, both are told whole.
    assert [one.id for one in sandbox.processes()] == [running_id]
    running = sandbox.process(running_id)
    assert next(running.stdout.lines()) == "one"
    assert next(running.stderr.lines()) == "two"
    assert running.poll() is None
    ended = sandbox.process(ended_id).collect()
    assert (ended.stdout, ended.exit_code) == ("gone\n", 7)
    assert running.kill()
    assert running.wait(30) == 137

    # The entry: what it has written, and what is written to it by either handle.
    assert sandbox.entry is not None
    assert by_name.entry is not None
    lines = sandbox.entry.stdout.lines()
    assert next(lines) == "entry began"
    assert by_name.entry.stdin is not None
    by_name.entry.stdin.write("a word\n")
    assert next(lines) == "heard a word"

    with pytest.raises(NameInUseError):
        Sandbox.create(backend=backend, name=f"whole-{backend}")
    sandbox.terminate()
    assert (sandbox.poll(), sandbox.end_reason) == (137, "terminated")
    assert until(lambda: by_name.poll() == 137)
    assert sandbox.entry.stdout.read() == "entry began\nheard a word\n"
    with pytest.raises(SandboxError):
        sandbox.exec("true")
    with pytest.raises(SandboxNotFoundError) as caught:
        Sandbox.attach(sandbox_id)
    assert (caught.value.end_reason, caught.value.exit_code) == ("terminated", 137)
    with pytest.raises(SandboxNotFoundError):
        Sandbox.from_name(f"whole-{backend}")
    assert Sandbox.list(tags={"of": backend}) == []
    by_name.detach()
    Sandbox.gc()
    assert until(registry.is_empty)


@pytest.mark.parametrize("made", BACKENDS[:2], indirect=True)
def test_a_killed_daemon_takes_all_with_it(made: tuple[str, list[str]], registry: Any) -> None:
    _, (sandbox_id, _, _) = made
    sandbox = Sandbox.attach(sandbox_id)
    os.kill(registry.daemon_of(sandbox), signal.SIGKILL)
    assert until(lambda: sandbox.poll() == 137)
    assert sandbox.end_reason == "gone"
    assert Sandbox.list() == []
    with pytest.raises(SandboxNotFoundError):
        Sandbox.attach(sandbox_id)
    assert registry.files() != []
    assert Sandbox.gc() == [sandbox_id]
    assert registry.files() == []
    assert Sandbox.gc() == []
    sandbox.destroy()
