"""``engine="builtin"``: our container, with rules and keys of its own."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.adapters.sbx_agents import DockerSbxSandbox
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.secrets import SecretStore, store_file
from tests.adapters.sbx_agents.agents import CODEX, SHELL, Agent, AgentBackend, Auth
from tests.adapters.sbx_agents.conftest import IMAGE

NAMESPACE = "sbx-agents"
CLAUDE = Agent("coder", AgentBackend("claude"))
with_docker = pytest.mark.engine("docker", image="python")


def builtin(workspace: Path, **fields: Any) -> DockerSbxSandbox:
    return DockerSbxSandbox(workspace=workspace, engine="builtin", image=IMAGE, **fields)


def run(sandbox: DockerSbxSandbox, *words: str, agent: Agent = SHELL) -> Any:
    session = sandbox.prepare(agent, None)
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


@with_docker
def test_workspace_is_at_its_own_path(workspace: Path) -> None:
    """So that a command may name its files as the runner does; processors and memory are held."""
    session_of = builtin(workspace, cpus=1, memory="512m")
    session = session_of.prepare(SHELL, None)
    result = session_of.run(session, ["sh", "-c", f"pwd; cat {workspace}/a.txt; echo b > b"])
    artifacts = session_of.collect(session)
    session_of.cleanup(session)
    assert f"{workspace}\none\n" == result.stdout
    assert ["b"] == [str(one.path) for one in artifacts.artifacts]


@pytest.mark.engine("docker", image="python")
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


@pytest.mark.engine("docker", image="python")
@pytest.mark.root
def test_key_does_not_come_in(workspace: Path) -> None:
    """A command has a word that means nothing in place of the key; the key is in this user's
    store, which nobody else reads.
    """
    value = "sk-ant-0123456789abcdef"
    with pytest.raises(SandboxError, match="llm-sandbox secret set ANTHROPIC_API_KEY"):
        run(builtin(workspace), "env", agent=CLAUDE)
    DockerSbxSandbox.set_global_secret("anthropic", value, engine="builtin")
    seen = run(builtin(workspace), "env", agent=CLAUDE).stdout
    [line] = [line for line in seen.splitlines() if line.startswith("ANTHROPIC_API_KEY=")]
    assert len(line) > len("ANTHROPIC_API_KEY=")
    assert value not in seen
    keep = builtin(workspace, remove_on_exit=False)
    look = ("sh", "-c", "echo x >> ~/seen; wc -l < ~/seen")
    try:
        assert ["1\n", "2\n"] == [run(keep, *look, agent=CLAUDE).stdout for _ in range(2)]
        # A sandbox that was made with another key is of no use.
        DockerSbxSandbox.set_global_secret("anthropic", f"{value}-new", engine="builtin")
        assert "1\n" == run(keep, *look, agent=CLAUDE).stdout
    finally:
        for sandbox in Sandbox.list(namespace=NAMESPACE):
            sandbox.destroy()
    assert 0o600 == Path(store_file()).stat().st_mode & 0o777


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


@pytest.mark.engine("docker", image="python")
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


@with_docker
def test_sandbox_that_stays_is_used_again(workspace: Path) -> None:
    """By name, or by kind and workspace; other settings are refused, and `force_recreate` makes it
    anew.
    """
    write, read = ("sh", "-c", "echo x > ~/left"), ("sh", "-c", "cat ~/left")
    try:
        for fields in ({"name": "mine"}, {}):
            keep = {**fields, "remove_on_exit": False}
            run(builtin(workspace, **keep), *write)
            assert "x\n" == run(builtin(workspace, **keep), *read).stdout
            # Who would remove what he made leaves alone what he found.
            assert "x\n" == run(builtin(workspace, **fields), *read).stdout
            with pytest.raises(ValueError, match="other settings"):
                run(builtin(workspace, **keep, cpus=1), *read)
            assert 1 == run(builtin(workspace, **keep, force_recreate=True), *read).returncode
            if fields:
                with pytest.raises(ValueError, match="another agent"):
                    run(builtin(workspace, **keep), "true", agent=Agent("o", AgentBackend("o")))
    finally:
        for sandbox in Sandbox.list(namespace=NAMESPACE):
            sandbox.destroy()


@with_docker
def test_is_ready() -> None:
    assert DockerSbxSandbox.is_available(engine="builtin")
    DockerSbxSandbox.check_ready(engine="builtin", timeout_seconds=60)
    with pytest.raises(ValueError, match="engine"):
        DockerSbxSandbox.check_ready(engine="other")  # type: ignore[arg-type]
