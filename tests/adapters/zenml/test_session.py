"""Sessions are the same in every flavor: commands, files, ends, saved copies."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import textwrap
import uuid
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox, Snapshot
from llm_sandbox.adapters.zenml import (
    BaseSandbox,
    BubblewrapSandbox,
    SandboxExecError,
    SandboxSession,
    SandboxSessionClosedError,
    SandboxSnapshot,
)
from llm_sandbox.adapters.zenml.component import IsolatedComponent
from llm_sandbox.adapters.zenml.machine import MachineSession
from llm_sandbox.exceptions import (
    LaunchError,
    SandboxError,
    SandboxNotFoundError,
)
from tests.adapters.zenml.conftest import ALL, ISOLATED, ROOT, component, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module", params=ALL)
def made(request: pytest.FixtureRequest, registry: None) -> BaseSandbox:
    return component(request.param, sandbox_environment={"GREETING": "hello", "OTHER": "one"})


@pytest.fixture(scope="module")
def session(made: BaseSandbox) -> Iterator[SandboxSession]:
    """One session of each flavor for all tests that leave it as it is."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opened = made.create_session(destroy_on_exit=True)
    with opened:
        yield opened


# --- commands


def test_command_runs_in_the_environment_of_the_session(session: SandboxSession) -> None:
    output = session.exec(["sh", "-c", "echo $GREETING; echo no >&2; exit 3"]).collect()
    assert ("hello\n", "no\n", 3) == (output.stdout, output.stderr, output.exit_code)
    assert "hello two\n" == run(session, "echo $GREETING $OTHER", env={"OTHER": "two"})
    assert "hello one\n" == run(session, "echo $GREETING $OTHER")


def test_text_is_split_and_no_shell_sees_it(session: SandboxSession) -> None:
    assert "$GREETING | cat\n" == session.exec("echo '$GREETING' | cat").collect().stdout
    with pytest.raises(ValueError, match="quotation"):
        session.exec("echo 'open")


def test_directory_is_relative_to_the_sessions(session: SandboxSession) -> None:
    home = run(session, "pwd").strip()
    run(session, "mkdir -p a/b")
    assert f"{home}/a/b\n" == run(session, "pwd", cwd="a/b")
    assert "/\n" == run(session, "pwd", cwd="/")


def test_what_does_not_start_is_an_error_at_once(session: SandboxSession, tmp_path: Path) -> None:
    run(session, "echo text > text && chmod 644 text")
    for command, cwd, kind in [
        (["no-such-program"], None, "not_found"),
        (["./text"], None, "not_executable"),
        (["true"], "no-such-directory", "bad_cwd"),
    ]:
        with pytest.raises(RuntimeError) as caught:
            session.exec(command, cwd=cwd)
        assert isinstance(caught.value, SandboxExecError)
        assert isinstance(caught.value, LaunchError)
        assert kind == caught.value.kind


def test_death_by_a_signal_is_128_and_more(session: SandboxSession) -> None:
    assert 143 == session.exec(["sh", "-c", "kill -TERM $$"]).collect().exit_code


def test_kill_reaches_what_the_command_started(session: SandboxSession) -> None:
    process = session.exec(
        ["sh", "-c", "setsid sh -c 'echo $$; exec sleep 600' & echo; exec sleep 600"]
    )
    inner = next(line for line in process.stdout() if line.strip()).strip()
    assert "alive\n" == run(session, f"kill -0 {inner} && echo alive")
    process.kill()
    assert 137 == process.wait(30)
    gone = f"""
    for i in $(seq 200); do kill -0 {inner} 2>/dev/null || {{ echo gone; exit; }}; sleep 0.05; done
    """
    assert "gone\n" == run(session, gone)


def test_many_commands_hold_nothing(session: SandboxSession) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    session.exec("true").collect()
    before = descriptors()
    kept = [session.exec(["echo", str(number)]) for number in range(20)]
    for process in kept:
        process.wait()
    # What nobody has read yet is still there.
    assert [f"{number}\n" for number in range(20)] == [one.collect().stdout for one in kept]
    assert descriptors() <= before + 2


def test_aexec_starts_a_command_while_the_loop_goes_on(session: SandboxSession) -> None:
    async def both() -> list[str]:
        found = await asyncio.gather(session.aexec("echo a"), session.aexec(["echo", "b"]))
        return [process.collect().stdout for process in found]

    assert ["a\n", "b\n"] == asyncio.run(both())


# --- files


def test_files_go_in_and_come_out(session: SandboxSession, tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_bytes(b"#!/bin/sh\necho a tool\n")
    tool.chmod(0o755)
    session.upload_file(str(tool), "made/for/it/tool")
    assert "a tool\n" == session.exec(["made/for/it/tool"]).collect().stdout
    session.upload_file(str(tool), f"{run(session, 'pwd').strip()}/absolute")
    session.download_file("absolute", str(tmp_path / "back"))
    assert tool.read_bytes() == (tmp_path / "back").read_bytes()


def test_only_files_are_copied(session: SandboxSession, tmp_path: Path) -> None:
    run(session, "mkdir -p folder; ln -sf folder link; mkfifo -m 600 pipe 2>/dev/null")
    for path in ("missing", "folder", "link", "pipe"):
        with pytest.raises(FileNotFoundError):
            session.download_file(path, str(tmp_path / "out"))
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(FileNotFoundError):
            session.upload_file(str(path), "in")
    assert [] == list(tmp_path.iterdir())


# --- ends: engines differ in none of this but in what attaching and snapshots show anyway


@pytest.fixture(params=["local", "bubblewrap"])
def one(request: pytest.FixtureRequest) -> BaseSandbox:
    return component(request.param)


def test_closed_session_refuses_everything(one: BaseSandbox, tmp_path: Path) -> None:
    session = one.create_session()
    assert not session.closed
    session.close()
    session.close()
    assert session.closed
    for call in (
        lambda: session.exec("true"),
        lambda: asyncio.run(session.aexec("true")),
        session.create_snapshot,
        lambda: session.upload_file("/etc/hostname", "x"),
        lambda: session.download_file("x", str(tmp_path / "x")),
    ):
        with pytest.raises(RuntimeError) as caught:
            call()
        assert isinstance(caught.value, SandboxSessionClosedError)
        assert isinstance(caught.value, SandboxError)
    # A closed handle can destroy, and twice.
    session.destroy()
    session.destroy()
    assert session.id not in [one.id for one in Sandbox.list()]


def test_end_of_a_block(one: BaseSandbox) -> None:
    def lives(session: SandboxSession) -> bool:
        return session.id in [found.id for found in Sandbox.list()]

    with one.create_session(destroy_on_exit=True) as destroyed:
        destroyed.exec(["sleep", "600"])
        assert isinstance(one, IsolatedComponent) == lives(destroyed)
    with one.create_session() as let_go:
        pass
    assert destroyed.closed
    assert let_go.closed
    # One that is isolated outlives its handle; a local one is its handle.
    assert (False, isinstance(one, IsolatedComponent)) == (lives(destroyed), lives(let_go))
    let_go.destroy()
    assert not lives(let_go)


def test_failing_destroy_leaves_the_session_open() -> None:
    failures = [RuntimeError("the engine does not answer")]

    class Failing(MachineSession):
        """A flavor whose engine fails once."""

        def _destroy(self) -> None:
            if failures:
                raise failures.pop()
            super()._destroy()

    class Engine(BubblewrapSandbox):
        session_class = Failing

    usual = component("bubblewrap")
    names = ("name", "id", "config", "flavor", "type", "user", "created", "updated")
    session = Engine(**{name: getattr(usual, name) for name in names}).create_session()
    with pytest.raises(RuntimeError, match="does not answer"):
        session.destroy()
    assert not session.closed
    assert "x\n" == session.exec("echo x").collect().stdout
    session.destroy()
    assert session.closed


@pytest.mark.parametrize("backend", ISOLATED)
def test_another_process_goes_on_with_it(backend: str) -> None:
    """Environment, settings and directory of this very session come along, not the component's."""
    made = component(backend, sandbox_environment={"OF": "component"})
    cls = made.settings_class
    assert cls is not None
    override = cls.model_validate(
        {"sandbox_environment": {"OF": "session"}, "workdir": "/elsewhere", "cpu_limit": 1.0}
    )
    session = made.create_session(override)
    try:
        run(session, "echo here > note")
        session.close()
        code = f"""
            import uuid
            from tests.adapters.zenml.conftest import component
            made = component({backend!r})
            made.id = uuid.UUID({str(made.id)!r})
            session = made.attach({session.id!r})
            print(session.exec(["sh", "-c", "echo $OF; pwd; cat note"]).collect().stdout, end="")
            print(session._settings["cpu_limit"])
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert ("session\n/elsewhere\nhere\n1.0\n", 0) == (done.stdout, done.returncode), done
        # It lives, as that process has only let go of it; another component's it is not.
        with pytest.raises(SandboxNotFoundError, match=session.id):
            component(backend).attach(session.id)
        assert made.attach(session.id).exec("cat note").collect().stdout == "here\n"
    finally:
        session.destroy()
    with pytest.raises(LookupError):
        made.attach(session.id)


# --- saved copies


def delete(snapshot: SandboxSnapshot) -> None:
    """Delete what is saved."""
    assert Snapshot.from_dict(json.loads(snapshot.ref)).delete()


def test_snapshot_is_restored_by_its_component_alone(made: BaseSandbox) -> None:
    with made.create_session(destroy_on_exit=True) as session:
        run(session, "echo kept > file")
        snapshot = session.create_snapshot()
        # The session goes on, and what it does now is in no snapshot.
        run(session, "echo later > file")
    try:
        assert isinstance(snapshot, SandboxSnapshot)
        assert made.id == snapshot.sandbox_id
        again = SandboxSnapshot.model_validate_json(snapshot.model_dump_json())
        assert "hello" not in snapshot.model_dump_json()
        first, second = made.restore(again), made.restore(again)
        try:
            assert 3 == len({session.id, first.id, second.id})
            assert "kept\n" == run(first, "cat file; echo more > file")
            assert "kept\n" == run(second, "cat file")
            assert "hello\n" == run(second, "echo $GREETING")
        finally:
            first.destroy()
            second.destroy()
        foreign = again.model_copy(update={"sandbox_id": uuid.uuid4()})
        with pytest.raises(ValueError, match="component"):
            made.restore(foreign)
        with pytest.raises(ValueError, match="reference"):
            made.restore(again.model_copy(update={"ref": "sha256:0"}))
    finally:
        delete(snapshot)


def test_restored_session_has_the_settings_of_the_saved_one() -> None:
    """Its network stays closed though the component's is open."""
    made = component("bubblewrap", network="open")
    cls = made.settings_class
    assert cls is not None
    session = made.create_session(cls.model_validate({"network": "blocked"}), True)
    with session:
        snapshot = session.create_snapshot()
    try:
        restored = made.restore(snapshot)
        devices = run(restored, "cat /proc/net/dev | grep -c :")
        restored.destroy()
        assert "1\n" == devices
    finally:
        delete(snapshot)
