"""`DockerSbxSandbox` of sbx-agents with sandboxes of this library, tried on each backend."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.exceptions import BackendUnavailableError, SandboxError
from tests.matrix.sbx_agents_probes import collected, ended, living, output, probe, turn
from tests.network.conftest import GREETING, Host, own_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.adapters import sbx_agents
    from tests.matrix.sbx_agents_probes import Agents


@probe("sbx-workspace", "sbx-run")
def sbx_run(face: Agents) -> None:
    """A command works in the workspace, and finds in the turn what it did before."""
    sandbox = face.sbx()
    with turn(sandbox) as session:
        result = sandbox.run(session, ["sh", "-c", "echo kept > sbx; echo no >&2; exit 3"])
        assert ("", "no\n", 3) == (result.stdout, result.stderr, result.returncode)
        assert "kept\n" == sandbox.run(session, ["cat", "sbx"]).stdout
    assert "kept\n" == (face.workspace / "sbx").read_text()


@probe("sbx-prepare")
def sbx_prepare(face: Agents) -> None:
    with turn(face.sbx()) as session:
        assert face.workspace.resolve() == session.workspace
        assert "shell" == session.metadata["agent_id"]


@probe("sbx-collect")
def sbx_collect(face: Agents) -> None:
    """What a command made of the workspace, as files and as a diff."""
    collected(face, face.sbx(), "sbx.txt")


@probe("sbx-cleanup")
def sbx_cleanup(face: Agents) -> None:
    """The sandbox of a turn ends with it; twice harms nothing."""
    ended(face.sbx())


@probe("sbx-branch")
def sbx_branch(face: Agents) -> None:
    """A command works on a branch of a clone, and the workspace stays as it was."""
    repository = face.workspace / "repository"
    repository.mkdir()
    for words in (
        ("init", "--quiet"),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "1", "--allow-empty"),
    ):
        subprocess.run(["git", "-C", repository, *words], check=True)
    for path in (repository, *repository.rglob("*")):
        face.give(path)
    sandbox = face.sbx(workspace=repository, branch="try")
    with turn(sandbox) as session:
        result = sandbox.run(session, ["sh", "-c", "cat .git/HEAD; echo made > only-there"])
    assert "ref: refs/heads/try\n" == result.stdout
    assert not (repository / "only-there").exists()


@probe("sbx-codex_auth_from_host")
def sbx_codex_auth(face: Agents) -> None:
    """The host's sign-in is in the sandbox, for its user alone."""
    agent = SimpleNamespace(name="codex", backend=SimpleNamespace(id="codex"))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        Path(folder, "auth.json").write_text('{"auth_mode": "chatgpt"}')
        patch.setenv("CODEX_HOME", folder)
        sandbox = face.sbx(codex_auth_from_host=True)
        session = sandbox.prepare(agent, None)
        try:
            script = "cat ~/.codex/auth.json; stat -c ' %a' ~/.codex/auth.json"
            result = sandbox.run(session, ["sh", "-c", script])
        finally:
            sandbox.cleanup(session)
    assert '{"auth_mode": "chatgpt"} 600\n' == result.stdout


@probe("sbx-cpus", "sbx-memory")
def sbx_limits(face: Agents) -> None:
    """The sandbox has these limits."""
    sandbox = face.sbx(cpus=1, memory="200m", remove_on_exit=False, name=face.unique("limits"))
    with turn(sandbox) as session:
        program = "import sys; x = bytearray(600 << 20); print(len(x))"
        assert "" == sandbox.run(session, ["python3", "-c", program]).stdout
    with living(face.unique("limits")) as made:
        assert (1, 200 << 20) == (made.limits.cpus, made.limits.memory_bytes)
        made.destroy()


@probe("sbx-name", "sbx-remove_on_exit", "sbx-force_recreate")
def sbx_name(face: Agents) -> None:
    """One that stays is found again by its name, unless it is to be made anew."""
    name = face.unique("stays")
    made = [
        ran(face.sbx(name=name, remove_on_exit=False)),
        ran(face.sbx(name=name, remove_on_exit=False)),
        ran(face.sbx(name=name, remove_on_exit=False, force_recreate=True)),
    ]
    assert made[0] == made[1]
    assert made[1] != made[2]
    with living(name) as last:
        assert made[2] == last.id
        last.destroy()
    assert made[2] != ran(face.sbx(name=name))
    with pytest.raises(LookupError, match=name), living(name):
        pass


def ran(sandbox: sbx_agents.SandboxBackend) -> str:
    """The id of the sandbox that a turn's command ran in."""
    with turn(sandbox) as session:
        return str(sandbox.run(session, ["true"]).metadata["sandbox_id"])


@probe("sbx-network_allow")
def sbx_network_allow(face: Agents) -> None:
    """What is allowed is reached, and nothing else."""
    host = Host()
    address = own_addresses()[0]
    target = (address, host.port)
    program = f"import socket; print(socket.create_connection({target}, 5).recv(99).decode())"
    command = ["python3", "-c", program]
    try:
        for allowed, said in (([f"{address}/32"], GREETING.decode() + "\n"), ([], "")):
            sandbox = face.sbx(network_allow=allowed)
            with turn(sandbox) as session:
                assert said == sandbox.run(session, command).stdout
    finally:
        host.close()


@probe("sbx-secret_env")
def sbx_secret_env(face: Agents) -> None:
    """A command has a word in place of the key, which stays outside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATRIX_KEY", "the-key-itself")
        given = face.sbx(secret_env={"openai": "MATRIX_KEY"})
        shown = output(given, "echo $OPENAI_API_KEY")
    assert shown.strip()
    assert "the-key-itself" not in shown


@probe("sbx-secret_oauth")
def sbx_oauth(face: Agents) -> None:
    face.sbx(secret_oauth=["openai"])


@probe("sbx-secret_oauth_refresh")
def sbx_oauth_refresh(face: Agents) -> None:
    face.sbx(secret_oauth_refresh=["openai"])


@probe("sbx-set_global_oauth_secret")
def sbx_set_oauth(face: Agents) -> None:
    face.sbx().set_global_oauth_secret("openai", engine="builtin")


@probe("sbx-check_available", "sbx-is_available", "sbx-check_ready", "sbx-is_ready")
def sbx_check(face: Agents) -> None:
    """The engine of these sandboxes answers; Docker's program, which is not here, does not."""
    kind = type(face.sbx())
    ours = {"engine": "builtin", "backend": face.backend}
    kind.check_available(**ours)
    kind.check_ready(**ours, timeout_seconds=30)
    assert kind.is_available(**ours)
    assert kind.is_ready(**ours, timeout_seconds=30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.fspath(face.workspace))
        with pytest.raises(BackendUnavailableError, match="sbx"):
            kind.check_available()
        assert (False, False) == (kind.is_available(), kind.is_ready())


@probe(
    "sbx-check_agent_secrets",
    "sbx-ensure_agent_auth",
    "sbx-ensure_agent_secret",
    "sbx-has_global_secret",
    "sbx-set_global_secret",
)
def sbx_secrets(face: Agents) -> None:
    """A key that is not kept is asked for, and one that is there is kept from then on."""
    sandbox = face.sbx(secret_env={"openai": "MATRIX_KEY"})
    key, agent = (
        {"engine": "builtin"},
        SimpleNamespace(name="c", backend=SimpleNamespace(id="codex")),
    )
    with fresh_store(), pytest.MonkeyPatch.context() as patch:
        assert not sandbox.has_global_secret("openai", **key)
        with pytest.raises(SandboxError, match="openai"):
            sandbox.check_agent_secrets("codex", **key)
        patch.setenv("MATRIX_KEY", "the-key-itself")
        sandbox.ensure_agent_secret("codex")
        sandbox.check_agent_secrets("codex", **key)
    with fresh_store(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("MATRIX_KEY", "the-key-itself")
        sandbox.ensure_agent_auth(agent)
        assert sandbox.has_global_secret("openai", **key)
        sandbox.set_global_secret("anthropic", "another", **key)
        sandbox.check_agent_secrets("claude", **key)


@contextmanager
def fresh_store() -> Iterator[None]:
    """Nothing is kept for the block, and nothing after it."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            patch.setenv(name, folder)
        yield
