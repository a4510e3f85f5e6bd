"""Limits that change while a session is open."""

from __future__ import annotations

from typing import Any

import pytest

from llm_sandbox import Sandbox, create_session
from llm_sandbox.aio import create_session as create_async_session
from llm_sandbox.backends.hardening.cgroups import find_tree
from llm_sandbox.exceptions import BackendError, UnsupportedError, ValidationError
from llm_sandbox.limits import Limits

MIB = 1 << 20
ALLOCATE = "kept = 7\ndata = bytearray(b'x') * (400 << 20)\nprint(len(data) >> 20)\ndel data"
FILL = """
import errno
written = 0
try:
    with open({path!r}, 'wb', buffering=0) as file:
        while written < 200: written += file.write(bytes(1 << 20)) >> 20
    print('whole')
except OSError as error:
    print(errno.errorcode[error.errno])
"""
HOLDING = [
    pytest.param(
        "bubblewrap",
        marks=pytest.mark.skipif(find_tree() is None, reason="no control group can be made"),
    ),
    pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
]


@pytest.mark.parametrize("backend", HOLDING)
def test_memory_is_raised_and_lowered_with_the_variables_kept(backend: str) -> None:
    with create_session(backend, memory="300m") as session:
        refused = session.run(ALLOCATE)
        assert refused.error is not None
        assert refused.error.name == "MemoryError"
        assert session.update_limits(memory="1g").memory_bytes == 1024 * MIB
        assert session.run(ALLOCATE).stdout == "400\n"
        assert "400" in session.run("!python -c 'print(len(bytes(400 << 20)) >> 20)'").stdout
        session.update_limits(memory_bytes="300m")
        lowered = session.run(f"print(kept)\n{ALLOCATE}")
        assert lowered.stdout == "7\n"
        assert lowered.error is not None
        assert (
            session.config.limits.memory_bytes == session.sandbox.limits.memory_bytes == 300 * MIB
        )


@pytest.mark.engine("podman", image="python")
def test_an_engine_that_cannot_is_named() -> None:
    """Podman before it had `update` in its API; with one that has it, it is held to."""
    with create_session("podman", memory="300m") as session:
        refused = None
        try:
            session.update_limits(memory="1g")
        except UnsupportedError as error:
            refused = error
        if refused is None:
            assert session.run(ALLOCATE).stdout == "400\n"
            return
        assert "of the engine cannot" in str(refused)
        assert session.config.limits.memory_bytes == 300 * MIB
        assert session.run(ALLOCATE).error is not None


@pytest.mark.parametrize("folder", ["/sandbox", "/tmp", "/dev/shm"])
def test_a_full_file_system_is_given_room(folder: str) -> None:
    sizes: Any = {"workdir": "50m", "tmp": "50m", "shm": "50m"}
    name = {"/sandbox": "workdir", "/tmp": "tmp", "/dev/shm": "shm"}[folder]
    path = f"{folder}/file"
    with create_session("bubblewrap", limits={"memory": "1g", **sizes}) as session:
        assert session.run(FILL.format(path=path)).stdout == "ENOSPC\n"
        session.update_limits(**{name: "300m"})
        assert session.run(FILL.format(path=path)).stdout == "whole\n"
        with pytest.raises(BackendError, match="used already"):
            session.update_limits(**{name: "10m"})
        assert session.sandbox.limits.differences(session.config.limits) == frozenset()
        others = [one for one in ("/sandbox", "/tmp", "/dev/shm") if one != folder]
        for other in others:
            assert session.run(FILL.format(path=f"{other}/file")).stdout == "ENOSPC\n"


def test_what_is_refused_changes_nothing() -> None:
    """However often, and whatever was asked for with it."""
    if find_tree() is None:
        pytest.skip("no control group can be made")
    sizes: Any = {"workdir": "100m", "shm": "50m"}
    with create_session("bubblewrap", memory="300m", limits=sizes) as session:
        before = session.config.limits
        assert session.run("_ = open('big', 'wb').write(bytes(40 << 20))").error is None
        for _ in range(2):
            with pytest.raises(BackendError, match="used already"):
                session.update_limits(memory="1g", shm="80m", workdir="10m")
        assert before == session.config.limits == session.sandbox.limits
        places = (
            "[os.statvfs(p).f_blocks * os.statvfs(p).f_frsize >> 20 for p in ('.', '/dev/shm')]"
        )
        assert session.run(f"import os; {places}").value == "[100, 50]"
        refused = session.run(ALLOCATE)
        assert refused.error is not None
        assert refused.error.name == "MemoryError"


def test_a_fresh_interpreter_has_the_new_limits() -> None:
    with create_session("bubblewrap", memory="300m") as session:
        if find_tree() is None:
            pytest.skip("no control group can be made")
        session.update_limits(memory="1g")
        session.restart()
        assert session.run(ALLOCATE).stdout == "400\n"


def test_what_the_host_keeps_changes_anywhere() -> None:
    with create_session("bubblewrap", limits={"output": 10, "artifact": 5}) as session:
        write = "open('a.txt', 'w').write('0123456789'); print('x' * 20)"
        before = session.run(write)
        assert before.stdout == "x" * 10
        assert before.artifact("a.txt").content is None
        session.update_limits(output="1k", artifact="1k")
        after = session.run(write)
        assert after.stdout == "x" * 20 + "\n"
        assert after.artifact("a.txt").content.bytes() == b"0123456789"


def test_cpus_change_where_they_were_limited() -> None:
    if find_tree() is None:
        pytest.skip("no control group can be made")
    with create_session("bubblewrap", cpus=0.5) as session:
        assert session.update_limits(cpus=1).cpus == 1
        assert session.run("print(1)").stdout == "1\n"


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        ("bubblewrap", "processes"),
        ("bubblewrap", "open_files"),
        pytest.param("docker", "workdir", marks=pytest.mark.engine("docker", image="python")),
        pytest.param("local", "memory", marks=pytest.mark.filterwarnings("ignore")),
    ],
)
def test_what_cannot_change_is_refused_by_name_and_nothing_changes(backend: str, name: str) -> None:
    with create_session(backend) as session:
        before = session.config.limits
        given: Any = {name: 64 * MIB, "output": 5}
        with pytest.raises(UnsupportedError, match=name):
            session.update_limits(**given)
        assert session.config.limits == session.sandbox.limits == before
        with pytest.raises(ValidationError, match="did you mean memory"):
            session.update_limits(memroy="1g")  # type: ignore[call-arg]


def test_a_detached_sandbox_takes_them_too() -> None:
    """Whoever attaches sees what somebody else changed."""
    sandbox = Sandbox.create(backend="bubblewrap", limits={"tmp": "20m"}, on_exit="keep")
    try:
        sandbox.update_limits(tmp="90m")
        found = Sandbox.attach(sandbox.id)
        assert found.limits == sandbox.limits == Limits.parse({"tmp": "20m"}).updated(tmp="90m")
        assert found.exec("df", "--output=size", "-k", "/tmp").stdout.read().split()[-1] == "92160"
    finally:
        sandbox.terminate()


@pytest.mark.anyio
async def test_an_async_session_has_it() -> None:
    async with create_async_session("bubblewrap", limits={"tmp": "20m"}) as session:
        assert (await session.update_limits(tmp="90m")).tmp_bytes == 90 * MIB


def test_a_link_in_the_way_of_a_mount_is_not_followed() -> None:
    """A program moves the folder above its working directory, and puts a link in its place."""
    with Sandbox.create(
        backend="bubblewrap", writable_root=True, workdir="/home/u/work", limits={"workdir": "20m"}
    ) as sandbox:
        sandbox.update_limits(workdir="30m")
        done = sandbox.exec("sh", "-c", "mv /home/u /home/u2 && ln -s /dev /home/u && ls /home")
        assert done.wait() == 0, done.stderr.read()
        with pytest.raises(BackendError, match="could not be changed"):
            sandbox.update_limits(workdir="40m")
