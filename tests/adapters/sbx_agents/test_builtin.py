"""``engine="builtin"``: our sandbox, with rules and keys of its own."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.adapters.sbx_agents import DockerSandbox, DockerSbxSandbox, SandboxSession
from llm_sandbox.exceptions import SandboxError, SecurityError, UnsupportedError
from llm_sandbox.secrets import Secret, SecretStore, store_file
from tests.adapters.sbx_agents.agents import CODEX, SHELL, Agent, AgentBackend, Auth, RunConfig
from tests.adapters.sbx_agents.conftest import IMAGE

NAMESPACE = "sbx-agents"
CLAUDE = Agent("coder", AgentBackend("claude"))
with_docker = pytest.mark.engine("docker", image="python")
BACKENDS = pytest.mark.parametrize(
    "backend", [pytest.param("docker", marks=with_docker), "bubblewrap"]
)


def builtin(workspace: Path, backend: str = "docker", **fields: Any) -> DockerSbxSandbox:
    image = IMAGE if backend == "docker" else None
    facts = {"workspace": workspace, "engine": "builtin", "backend": backend, "image": image}
    return DockerSbxSandbox(**{**facts, **fields})


def run(
    sandbox: DockerSbxSandbox, *words: str, agent: Agent = SHELL, config: RunConfig | None = None
) -> Any:
    session = sandbox.prepare(agent, config)
    try:
        return sandbox.run(session, list(words))
    finally:
        sandbox.cleanup(session)


@pytest.fixture
def server() -> Iterator[str]:
    """A server on an address of this machine: ``address:port``."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing, and tells our own address
        own = probe.getsockname()[0]
    listener = socket.create_server((own, 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.sendall(b"served")

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"{own}:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@BACKENDS
def test_workspace_is_at_its_own_path(workspace: Path, backend: str) -> None:
    """So that a command may name its files as the runner does; processors and memory are held."""
    session_of = builtin(workspace, backend, cpus=1, memory="512m")
    session = session_of.prepare(SHELL, None)
    result = session_of.run(session, ["sh", "-c", f"pwd; cat {workspace}/a.txt; echo b > b"])
    artifacts = session_of.collect(session)
    session_of.cleanup(session)
    assert f"{workspace}\none\n" == result.stdout
    assert ["b"] == [str(one.path) for one in artifacts.artifacts]


@with_docker
@pytest.mark.root
def test_rules_are_of_one_sandbox(workspace: Path, server: str) -> None:
    """What one may connect to another may not, at the same time and later."""
    host, port = server.split(":")
    code = f"import socket; s = socket.create_connection(('{host}', {port}), 5); print(s.recv(9))"
    allowed = builtin(workspace, network_allow=[server])
    session = allowed.prepare(SHELL, None)
    assert "b'served'\n" == allowed.run(session, ["python3", "-c", code]).stdout
    assert 1 == run(builtin(workspace), "python3", "-c", code).returncode
    other = run(builtin(workspace, network_allow=["example.org"]), "python3", "-c", code)
    assert 1 == other.returncode
    assert ["denied"] == [event["verdict"] for event in other.metadata["network"]]
    allowed.cleanup(session)


@BACKENDS
@pytest.mark.root
def test_key_does_not_come_in(workspace: Path, backend: str) -> None:
    """A command has a word that means nothing in place of the key; the key is in this user's
    store, which nobody else reads.
    """
    value = "sk-ant-0123456789abcdef"
    with pytest.raises(SandboxError, match="llm-sandbox secret set ANTHROPIC_API_KEY"):
        run(builtin(workspace, backend), "env", agent=CLAUDE)
    DockerSbxSandbox.set_global_secret("anthropic", value, engine="builtin")
    seen = run(builtin(workspace, backend), "env", agent=CLAUDE).stdout
    [line] = [line for line in seen.splitlines() if line.startswith("ANTHROPIC_API_KEY=")]
    assert len(line) > len("ANTHROPIC_API_KEY=")
    assert value not in seen
    assert 0o600 == Path(store_file()).stat().st_mode & 0o777


@pytest.mark.root
def test_new_key_makes_a_new_sandbox(workspace: Path) -> None:
    """One that was made with another key is of no use."""
    DockerSbxSandbox.set_global_secret("anthropic", "sk-ant-0123456789abcdef", engine="builtin")
    keep = builtin(workspace, "bubblewrap", remove_on_exit=False)
    look = ("sh", "-c", "echo x >> ~/seen; wc -l < ~/seen")
    try:
        assert ["1\n", "2\n"] == [run(keep, *look, agent=CLAUDE).stdout for _ in range(2)]
        DockerSbxSandbox.set_global_secret("anthropic", "sk-ant-of-another", engine="builtin")
        assert "1\n" == run(keep, *look, agent=CLAUDE).stdout
    finally:
        for sandbox in Sandbox.list(namespace=NAMESPACE):
            sandbox.destroy()


def test_keys(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are kept by the variable that clients read, and taken from the one that is named."""
    kind = DockerSbxSandbox
    assert not kind.has_global_secret("openai", engine="builtin")
    with pytest.raises(SandboxError, match="llm-sandbox secret set OPENAI_API_KEY"):
        kind.check_agent_secrets("codex", engine="builtin")
    sandbox = builtin(workspace, secret_env={"openai": "MY_KEY"})
    with pytest.raises(SandboxError, match="export MY_KEY"):
        sandbox.ensure_agent_secret("codex")
    monkeypatch.setenv("MY_KEY", "sk-from-here")
    sandbox.ensure_agent_auth(Agent("coder", AgentBackend("codex", Auth("openai_api_key_env"))))
    sandbox.ensure_agent_secret("codex")
    assert kind.has_global_secret("openai", engine="builtin")
    assert "sk-from-here" == SecretStore().read("OPENAI_API_KEY")
    kind.check_agent_secrets("codex", engine="builtin")
    kind.check_agent_secrets("shell", engine="builtin")
    with pytest.raises(ValueError, match="no service 'nobody'"):
        kind.set_global_secret("nobody", "x", engine="builtin")


@with_docker
@pytest.mark.root
def test_codex_sign_in_of_the_host(workspace: Path, places: Path) -> None:
    """It is copied into the sandbox's home, for its one user, and never into the workspace."""
    folder = places / ".codex"
    folder.mkdir()
    login = '{"auth_mode": "chatgpt", "tokens": {}}'
    (folder / "auth.json").write_text(login)
    sandbox = builtin(workspace, codex_auth_from_host=True)
    look = "cat ~/.codex/auth.json; stat -c ' %a' ~/.codex/auth.json"
    result = run(sandbox, "sh", "-c", look, agent=CODEX)
    assert f"{login} 600\n" == result.stdout
    assert "copied" in result.metadata["codex_login"]
    assert ["a.txt"] == [str(path) for path in sandbox.list_files()]


@BACKENDS
def test_sandbox_that_stays_is_used_again(workspace: Path, backend: str) -> None:
    """By name, or by kind and workspace; other settings are refused, and `force_recreate` makes it
    anew.
    """
    write, read = ("sh", "-c", "echo x > ~/left"), ("sh", "-c", "cat ~/left")
    try:
        # Finding it is the same everywhere; what differs is that it lives on.
        for named in ({"name": "mine"}, {}) if backend == "bubblewrap" else ({"name": "mine"},):
            fields: dict[str, Any] = {"backend": backend, **named}
            keep = {**fields, "remove_on_exit": False}
            run(builtin(workspace, **keep), *write)
            assert "x\n" == run(builtin(workspace, **keep), *read).stdout
            # Who would remove what he made leaves alone what he found.
            assert "x\n" == run(builtin(workspace, **fields), *read).stdout
            with pytest.raises(ValueError, match="other settings"):
                run(builtin(workspace, **keep, cpus=1), *read)
            assert 1 == run(builtin(workspace, **keep, force_recreate=True), *read).returncode
            if named:
                with pytest.raises(ValueError, match="another agent"):
                    run(builtin(workspace, **keep), "true", agent=Agent("o", AgentBackend("o")))
    finally:
        for sandbox in Sandbox.list(namespace=NAMESPACE):
            sandbox.destroy()


def test_new_value_of_a_secret_makes_a_new_sandbox(workspace: Path) -> None:
    """What a sandbox that stays was given is compared, and is not to be had from what is kept."""

    def look(value: str) -> str:
        given = [Secret("TOKEN", value)]
        keep = builtin(workspace, "bubblewrap", secrets=given, remove_on_exit=False)
        return str(run(keep, "sh", "-c", "echo $TOKEN; echo x >> ~/n; wc -l < ~/n").stdout)

    try:
        assert ["first\n1\n", "first\n2\n", "second\n1\n"] == [
            look(value) for value in ("first", "first", "second")
        ]
        [sandbox] = Sandbox.list(namespace=NAMESPACE)
        assert "second" not in str(sandbox.tags)
        sandbox.detach()
    finally:
        for sandbox in Sandbox.list(namespace=NAMESPACE):
            sandbox.destroy()


def test_settings_of_a_run(workspace: Path) -> None:
    """A run says whether its sandbox stays; what nothing would come of is refused."""
    sandbox = builtin(workspace, "bubblewrap")
    made = run(sandbox, "true", config=RunConfig(remove_on_exit=False)).metadata["sandbox_id"]
    [found] = Sandbox.list(namespace=NAMESPACE)
    assert made == found.id
    found.destroy()
    run(sandbox, "true", config=RunConfig())
    assert [] == Sandbox.list(namespace=NAMESPACE)
    for setting, value in (("permission", "deny"), ("network", "none"), ("secrets", ["x"])):
        config = RunConfig()
        setattr(config, setting, value)
        with pytest.raises(UnsupportedError, match=f"{setting}= of a run"):
            sandbox.prepare(SHELL, config)


def test_clone_is_no_word_for_any_folder(workspace: Path, places: Path) -> None:
    """A session that was made by hand cannot name a folder that is not given away, unless that
    risk is taken.
    """
    hidden = places / ".ssh"
    hidden.mkdir()
    fields = {"branch": "work", "workdir": "/project"}
    for taken in (False, True):
        sandbox = builtin(workspace, "bubblewrap", **fields, allow_dangerous=taken)
        session = SandboxSession(workspace=hidden, metadata={"agent_id": "shell"})
        if taken:
            assert 0 == sandbox.run(session, ["touch", "here"]).returncode
        else:
            with pytest.raises(SecurityError, match="allow_dangerous=True"):
                sandbox.run(session, ["touch", "here"])
        assert taken is (hidden / "here").exists()
        sandbox.cleanup(session)


@BACKENDS
def test_is_ready(backend: Any) -> None:
    assert DockerSbxSandbox.is_available(engine="builtin", backend=backend)
    DockerSbxSandbox.check_ready(engine="builtin", backend=backend, timeout_seconds=60)


@with_docker
def test_is_ready_asks_of_the_backend_that_is_named() -> None:
    """Where Docker works and Podman does not, each is told about his own."""
    # A process of its own: what a backend found out about itself counts for a whole one.
    code = """
from llm_sandbox.adapters.sbx_agents import DockerSbxSandbox as Kind
print(Kind.is_ready(engine="builtin", timeout_seconds=60))
print(Kind.is_available(engine="builtin", backend="podman"))
try:
    Kind.check_ready(engine="builtin", backend="podman", timeout_seconds=60)
except Exception as error:
    print(error.backend)
"""
    nowhere = {**os.environ, "CONTAINER_HOST": "unix:///nowhere/podman.sock"}
    done = subprocess.run([sys.executable, "-c", code], env=nowhere, capture_output=True, text=True)
    assert ["True", "False", "podman"] == done.stdout.split(), done.stderr


def test_backend_that_means_nothing_is_refused() -> None:
    kind = DockerSbxSandbox
    with pytest.raises(UnsupportedError, match="backend 'local'"):
        kind.check_ready(engine="builtin", backend="local")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="engine='builtin'"):
        kind.check_available(backend="podman")
    with pytest.raises(ValueError, match="engine"):
        kind.check_ready(engine="other")  # type: ignore[arg-type]


def test_backends_that_agents_are_not_given_to(workspace: Path) -> None:
    """The error says which are there; bubblewrap has no images."""
    for backend in ("local", "gvisor"):
        with pytest.raises(UnsupportedError, match="backend='bubblewrap'"):
            builtin(workspace, backend)
    for backend in ("local", "bubblewrap"):
        with pytest.raises(UnsupportedError, match="backend='podman'"):
            DockerSandbox(workspace=workspace, backend=backend)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="backend"):
        builtin(workspace, "nonsense")
    with pytest.raises(UnsupportedError, match="leave out image="):
        builtin(workspace, "bubblewrap", image=IMAGE).prepare(SHELL, None)
