"""`DockerSandbox` of sbx-agents, tried on each backend; its classes, and its files."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.adapters import sbx_agents
from llm_sandbox.backends.recipes import image_name
from tests.matrix.probes import Probes

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLIC = {
    "DockerSandbox",
    "DockerSbxSandbox",
    "SandboxBackend",
    "SandboxSession",
    "WorkspaceFileMixin",
}
AGENT = SimpleNamespace(name="tried", backend=SimpleNamespace(id="shell"))
IMAGE = image_name("python")
USER = 65532
"""Not root, to whom the workspaces belong."""

probe: Probes[Agents] = Probes()


class Agents:
    """A workspace, and sandboxes of agents that work in it."""

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self.workspace = Path(tempfile.mkdtemp(prefix="matrix-"))
        self.give(self.workspace)

    def give(self, path: Path) -> None:
        """To the user that commands run as."""
        if os.geteuid() == 0:
            os.chown(path, USER, USER)

    def use(self) -> None:
        """Nothing is chosen for the process."""

    def close(self) -> None:
        shutil.rmtree(self.workspace)

    def unique(self, name: str) -> str:
        """A name that only this backend's probes use."""
        return f"matrix-{name}-{self.backend}"

    def docker(self, **fields: Any) -> sbx_agents.DockerSandbox:
        facts = {"workspace": self.workspace, "image": IMAGE, "network": "blocked"}
        return sbx_agents.DockerSandbox(backend=self.backend, **{**facts, **fields})

    def sbx(self, **fields: Any) -> sbx_agents.DockerSbxSandbox:
        facts = {"workspace": self.workspace, "engine": "builtin"}
        return sbx_agents.DockerSbxSandbox(backend=self.backend, **{**facts, **fields})


@contextmanager
def turn(sandbox: sbx_agents.SandboxBackend, **config: Any) -> Iterator[sbx_agents.SandboxSession]:
    """A session of a sandbox, and its end."""
    session = sandbox.prepare(AGENT, SimpleNamespace(**config))
    try:
        yield session
    finally:
        sandbox.cleanup(session)


def output(sandbox: sbx_agents.SandboxBackend, script: str, **config: Any) -> str:
    """What a shell's script prints in a turn of its own."""
    with turn(sandbox, **config) as session:
        result = sandbox.run(session, ["sh", "-c", script])
    assert 0 == result.returncode, result.stderr
    return result.stdout


@contextmanager
def living(name: str) -> Iterator[Sandbox]:
    """A handle of a sandbox that lives."""
    found = Sandbox.from_name(name, namespace="sbx-agents")
    try:
        yield found
    finally:
        found.detach()


# --- data


@probe("all")
def public_names() -> None:
    assert set() == PUBLIC - set(sbx_agents.__all__)
    assert all(hasattr(sbx_agents, name) for name in PUBLIC)


@probe("docker-id")
def docker_id() -> None:
    assert "docker" == sbx_agents.DockerSandbox(workspace=Path()).id


@probe("sbx-id")
def sbx_id() -> None:
    assert "docker_sbx" == sbx_agents.DockerSbxSandbox(workspace=Path()).id


@probe("docker-model_config")
def docker_model() -> None:
    assert sbx_agents.DockerSandbox.model_config["arbitrary_types_allowed"] is True


@probe("sbx-model_config")
def sbx_model() -> None:
    assert sbx_agents.DockerSbxSandbox.model_config["arbitrary_types_allowed"] is True


@probe("SandboxBackend")
def protocol() -> None:
    """Both classes fulfil it, and what lacks a method does not."""
    for cls in (sbx_agents.DockerSandbox, sbx_agents.DockerSbxSandbox):
        assert isinstance(cls(workspace=Path()), sbx_agents.SandboxBackend)
    assert not isinstance(SimpleNamespace(id="x", name=None), sbx_agents.SandboxBackend)


@probe("SandboxSession")
def session_record() -> None:
    session = sbx_agents.SandboxSession(workspace=Path("/there"))
    assert (Path("/there"), None, {}) == (
        *(session.workspace, session.sandbox_name),
        session.metadata,
    )
    with pytest.raises(ValueError, match="workspace"):
        sbx_agents.SandboxSession()


# --- DockerSandbox


@probe("docker-workspace", "docker-workdir", "docker-run")
def docker_run(face: Agents) -> None:
    """A command works in the workspace; what it writes stays, and its exit code is told."""
    sandbox = face.docker(workdir="/project")
    with turn(sandbox) as session:
        result = sandbox.run(session, ["sh", "-c", "pwd; echo kept > note; echo no >&2; exit 3"])
    assert ("/project\n", "no\n", 3) == (result.stdout, result.stderr, result.returncode)
    assert "kept\n" == (face.workspace / "note").read_text()


@probe("docker-image")
def docker_image(face: Agents) -> None:
    """Programs are the image's; an image that is not there is an error with its name."""
    assert "3.1" in output(face.docker(image=IMAGE), "python3 --version")
    with pytest.raises(Exception, match="no-such-image"):
        output(face.docker(image="llm-sandbox/no-such-image:1"), "true")


@probe("docker-env")
def docker_env(face: Agents) -> None:
    assert "blue\n" == output(face.docker(env={"COLOUR": "blue"}), "echo $COLOUR")


@probe("docker-docker_args")
def docker_args(face: Agents) -> None:
    """Options are honoured, and those that open the container's walls refused."""
    given = face.docker(docker_args=["--tmpfs", "/given:size=1m", "--env=ARG=here"])
    assert "here\n/given\n" == output(given, "echo $ARG; ls -d /given")
    with pytest.raises(Exception, match="privileged"):
        output(face.docker(docker_args=["--privileged"]), "true")


@probe("docker-name")
def docker_name(face: Agents) -> None:
    """Its sandbox is found by its name while it lives."""
    name = face.unique("name")
    sandbox = face.docker(name=name, persistent=True)
    with turn(sandbox) as session:
        assert name == session.sandbox_name
        sandbox.run(session, ["true"])
        with living(name) as found:
            assert 0 == found.exec("true").wait()


@probe("docker-remove_on_exit")
def docker_remove_on_exit(face: Agents) -> None:
    """The container stays, or is gone."""
    name = face.unique("kept")
    output(face.docker(name=name, remove_on_exit=False), "true")
    with living(name) as kept:
        assert 0 == kept.exec("true").wait()
        kept.destroy()
    output(face.docker(name=name), "true")
    with pytest.raises(LookupError, match=name), living(name):
        pass


@probe("docker-prepare")
def docker_prepare(face: Agents) -> None:
    """It says where the workspace is, and refuses one that is not there."""
    sandbox = face.docker()
    with turn(sandbox) as session:
        assert face.workspace.resolve() == session.workspace
        assert "shell" == session.metadata["agent_id"]
    with pytest.raises(FileNotFoundError):
        face.docker(workspace=face.workspace / "none").prepare(AGENT, None)


@probe("docker-collect")
def docker_collect(face: Agents) -> None:
    """What a command made of the workspace, as files and as a diff."""
    collected(face, face.docker(), "docker.txt")


def collected(face: Agents, sandbox: sbx_agents.SandboxBackend, name: str) -> None:
    with turn(sandbox) as session:
        sandbox.run(session, ["sh", "-c", f"echo made > {name}"])
        found = sandbox.collect(session)
    assert [name] == [str(artifact.path) for artifact in found.artifacts]
    assert found.diff is not None
    assert "+made" in found.diff


@probe("docker-cleanup")
def docker_cleanup(face: Agents) -> None:
    """The container of a turn ends with it; twice harms nothing."""
    ended(face.docker(persistent=True))


def ended(sandbox: sbx_agents.SandboxBackend) -> None:
    session = sandbox.prepare(AGENT, None)
    result = sandbox.run(session, ["true"])
    lives = Sandbox.list()
    sandbox.cleanup(session)
    sandbox.cleanup(session)
    assert 0 == result.returncode
    assert result.metadata["sandbox_id"] not in [one.id for one in Sandbox.list()]
    for one in lives:
        one.detach()


# --- files


@probe("files-workspace", "files-put_file", "files-get_file", "files-put_bytes", "files-get_bytes")
def files() -> None:
    """What is written is read, below the workspace and nowhere else."""
    with tempfile.TemporaryDirectory() as folder:
        sandbox = sbx_agents.DockerSandbox(workspace=Path(folder))
        assert Path(folder, "a/b.txt").resolve() == sandbox.put_file("a/b.txt", "text")
        assert ("text", b"text") == (sandbox.get_file("a/b.txt"), sandbox.get_bytes("a/b.txt"))
        sandbox.put_bytes("c", b"\xff")
        assert b"\xff" == Path(folder, "c").read_bytes()
        for path in ("../out", "/etc/hostname"):
            with pytest.raises(ValueError, match="leads out"):
                sandbox.put_file(path, "text")


@probe("files-list_files", "files-delete_file")
def more_files() -> None:
    """Files alone are listed, and of a link the link is deleted."""
    with tempfile.TemporaryDirectory() as folder:
        sandbox = sbx_agents.DockerSandbox(workspace=Path(folder))
        sandbox.put_file("a/b.txt", "text")
        sandbox.put_file("c.txt", "text")
        assert [Path("a/b.txt"), Path("c.txt")] == sandbox.list_files()
        assert [Path("c.txt")] == sandbox.list_files("*.txt")
        Path(folder, "link").symlink_to("c.txt")
        sandbox.delete_file("link")
        assert [Path("a/b.txt"), Path("c.txt")] == sandbox.list_files()
        sandbox.delete_file("c.txt")
        assert [Path("a/b.txt")] == sandbox.list_files()
