"""`DockerSandbox` over a real engine, and the defects that sandboxes of its kind have had."""

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.adapters.sbx_agents import CommandResult, DockerSandbox, RunArtifacts
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import LaunchError, NameInUseError, SecurityError
from tests.adapters.sbx_agents.agents import SHELL, RunConfig
from tests.adapters.sbx_agents.conftest import IMAGE, git

pytestmark = [pytest.mark.slow, pytest.mark.engine("docker", image="python")]


def docker_sandbox(workspace: Path, **fields: Any) -> DockerSandbox:
    return DockerSandbox(**{"workspace": workspace, "image": IMAGE, "network": "blocked", **fields})


def turn(
    sandbox: DockerSandbox, *commands: list[str], config: RunConfig | None = None
) -> tuple[list[CommandResult], RunArtifacts]:
    session = sandbox.prepare(SHELL, config)
    try:
        results = [sandbox.run(session, command) for command in commands]
        return results, sandbox.collect(session)
    finally:
        sandbox.cleanup(session)


@pytest.mark.parametrize(
    "backend",
    ["docker", pytest.param("podman", marks=pytest.mark.engine("podman", image="python"))],
)
def test_turn(workspace: Path, backend: str) -> None:
    """A command works in the workspace, and everything that it did there is told."""
    (workspace / "gone.txt").write_text("old")
    sandbox = docker_sandbox(workspace, backend=backend, env={"WORD": "hello"})
    words = "pwd; echo $WORD; echo two >> a.txt; mkdir d; echo x > d/b; rm gone.txt; exit 3"
    [result], artifacts = turn(sandbox, ["sh", "-c", words])
    assert (3, "/workspace\nhello\n", "") == (result.returncode, result.stdout, result.stderr)
    assert ["sh", "-c", words] == result.command
    assert ["a.txt", "d/b"] == [str(one.path) for one in artifacts.artifacts]
    assert ["changed", "added"] == [one.metadata["change"] for one in artifacts.artifacts]
    assert {"deleted": ["gone.txt"], "repository": []} == artifacts.metadata
    assert "+two" in (artifacts.diff or "")
    # What it made belongs to whom the workspace belongs to.
    assert workspace.stat().st_uid == (workspace / "d/b").stat().st_uid
    assert "x\n" == sandbox.get_file("d/b")


def test_one_container_for_each_command(workspace: Path) -> None:
    """Nothing is left between commands but the workspace; `persistent` keeps the container."""
    write, read = ["sh", "-c", "echo x > $HOME/left"], ["cat", "/agent-home/left"]
    [_, fresh], _ = turn(docker_sandbox(workspace), write, read)
    [_, same], artifacts = turn(docker_sandbox(workspace, persistent=True), write, read)
    assert (1, 0) == (fresh.returncode, same.returncode)
    assert [] == artifacts.artifacts


def test_timeout_kills_inside(workspace: Path) -> None:
    """After a timeout nothing of the command runs, also where the container does."""
    sandbox = docker_sandbox(workspace, persistent=True)
    session = sandbox.prepare(SHELL, RunConfig(timeout_seconds=2))
    look = ["sh", "-c", "grep -l 'sleep' /proc/[0-9]*/comm | wc -l"]
    with contextlib.closing(_closing(sandbox, session)):
        command = ["sh", "-c", "echo begun; setsid sleep 300 & sleep 300"]
        with pytest.raises(subprocess.TimeoutExpired) as caught:
            sandbox.run(session, command)
        assert "begun\n" == caught.value.output
        assert command == caught.value.cmd
        assert "0\n" == sandbox.run(session, look).stdout
        # The look finds one that runs.
        seen = sandbox.run(session, ["sh", "-c", "sleep 30 & sleep 0.2; " + look[2]])
        assert "1\n" == seen.stdout


def _closing(sandbox: DockerSandbox, session: Any) -> Any:
    class Closing:
        def close(self) -> None:
            sandbox.cleanup(session)

    return Closing()


def test_variables_are_no_part_of_the_container(workspace: Path) -> None:
    """The engine knows no value of a variable, and no command line of this machine holds one."""
    value = "value-that-nobody-sees"
    sandbox = docker_sandbox(
        workspace, env={"TOKEN": value}, docker_args=["-e", f"OTHER={value}"], persistent=True
    )
    session = sandbox.prepare(SHELL, RunConfig(env={"THIRD": value}))
    with contextlib.closing(_closing(sandbox, session)):
        result = sandbox.run(session, ["sh", "-c", "echo $TOKEN $OTHER $THIRD"])
        assert f"{value} {value} {value}\n" == result.stdout
        client = get_backend("docker").engine.client
        containers = [one.attrs for one in client.containers.list()]
        assert containers
        assert value not in str(containers)
        lines = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                lines.append((entry / "cmdline").read_bytes())
        assert value.encode() not in b"".join(lines)


def test_nothing_of_the_workspace_is_obeyed(workspace: Path, tmp_path: Path) -> None:
    """What a command writes into the repository's configuration starts no program here, and is
    told; Git itself would start it.
    """
    marker = tmp_path / "ran"
    git(workspace, "init", "-q")
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "start")
    hostile = f"printf '[core]\\n\\tfsmonitor = \"touch {marker};false\"\\n' >> .git/config"
    _, artifacts = turn(docker_sandbox(workspace), ["sh", "-c", f"{hostile}; echo two >> a.txt"])
    assert "+two" in (artifacts.diff or "")
    assert [".git/config"] == artifacts.metadata["repository"]
    assert not marker.exists()
    with contextlib.suppress(subprocess.CalledProcessError):
        git(workspace, "diff", "--no-ext-diff")
    assert marker.exists()


def test_new_and_committed_files_are_in_the_diff(workspace: Path) -> None:
    """Also those that Git's own diff does not show: new ones, and what was committed meanwhile."""
    git(workspace, "init", "-q")
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "start")
    sandbox = docker_sandbox(workspace)
    session = sandbox.prepare(SHELL, None)
    sandbox.run(session, ["sh", "-c", "echo new > new.txt; echo two >> a.txt"])
    git(workspace, "commit", "-qam", "as an agent does")
    artifacts = sandbox.collect(session)
    sandbox.cleanup(session)
    assert "+new" in (artifacts.diff or "")
    assert "+two" in (artifacts.diff or "")
    assert "" == git(workspace, "diff")


def test_name_is_taken_while_its_sandbox_lives(workspace: Path) -> None:
    """One that stays is used again by the same name, and in nobody's way by another."""
    fields: dict[str, Any] = {"name": "worker", "persistent": True, "remove_on_exit": False}
    write, read = ["sh", "-c", "echo x > $HOME/left"], ["cat", "/agent-home/left"]
    try:
        turn(docker_sandbox(workspace, **fields), write)
        [seen], _ = turn(docker_sandbox(workspace, **fields), read)
        assert "x\n" == seen.stdout
        with pytest.raises(ValueError, match="other settings"):
            turn(docker_sandbox(workspace, **fields, docker_args=["--cpus", "1"]), read)
        with pytest.raises(NameInUseError):
            turn(docker_sandbox(workspace, name="worker"), read)
    finally:
        Sandbox.from_name("worker", "sbx-agents").destroy()


def test_missing_program(workspace: Path) -> None:
    with pytest.raises(LaunchError, match="no-such-program"):
        turn(docker_sandbox(workspace), ["no-such-program"])


def test_workspace_that_nobody_gives_away(tmp_path: Path) -> None:
    """A folder like the host's settings is refused, with what takes the risk."""
    with pytest.raises(SecurityError, match="allow_dangerous=True"):
        turn(docker_sandbox(Path("/etc")), ["true"])


def test_variables_of_this_process(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run's configuration hands on those that it names, and no other."""
    monkeypatch.setenv("PLAIN", "p")
    monkeypatch.setenv("KEY", "k")
    config = RunConfig(forward_env=["PLAIN"], secret_env=["KEY"])
    [result], _ = turn(docker_sandbox(workspace), ["env"], config=config)
    found = set(result.stdout.splitlines())
    assert {"PLAIN=p", "KEY=k"} <= found
    assert not any(line.startswith("XDG_STATE_HOME=") for line in found)
    assert "XDG_STATE_HOME" in os.environ
    with pytest.raises(ValueError, match="export MISSING"):
        docker_sandbox(workspace).prepare(SHELL, RunConfig(forward_env=["MISSING"]))


def test_lines_are_shown_while_it_runs(workspace: Path, capfd: pytest.CaptureFixture[str]) -> None:
    config = RunConfig(stream_output=True)
    words = "printf 'out\\033[31m\\n'; echo err >&2"
    [result], _ = turn(docker_sandbox(workspace), ["sh", "-c", words], config=config)
    assert "out\x1b[31m\n" == result.stdout
    shown = capfd.readouterr()
    assert "out\n" == shown.out
    assert "err\n" in shown.err
