"""``engine="sbx"`` over a stand-in for Docker's program, which is not the program itself."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from llm_sandbox.adapters.sbx_agents import DockerSbxSandbox
from llm_sandbox.exceptions import BackendUnavailableError, SandboxError, UnsupportedError
from tests.adapters.sbx_agents.agents import CODEX, SHELL, Agent, AgentBackend, Auth, RunConfig
from tests.adapters.sbx_agents.conftest import FakeSbx

VERSIONS = pytest.mark.parametrize("version", ["early", "middle", "late"])


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] not in "ZX"
    except OSError:
        return False


@VERSIONS
def test_turn(fake_sbx: FakeSbx, workspace: Path) -> None:
    """A turn makes a sandbox, runs the command, tells what changed, and removes the sandbox."""
    sandbox = DockerSbxSandbox(workspace=workspace, cpus=2, memory="4g")
    session = sandbox.prepare(SHELL, None)
    result = sandbox.run(session, ["sh", "-c", "echo hello; echo two >> a.txt; echo b > b; exit 3"])
    assert (3, "hello\n") == (result.returncode, result.stdout)
    artifacts = sandbox.collect(session)
    assert ["a.txt", "b"] == [str(one.path) for one in artifacts.artifacts]
    assert "+two" in (artifacts.diff or "")
    sandbox.cleanup(session)
    assert {} == fake_sbx.knows()["sandboxes"]
    [made] = fake_sbx.calls("create")
    assert ["--cpus", "2"] == made[made.index("--cpus") :][:2]
    assert ["--memory", "4g"] == made[made.index("--memory") :][:2]
    assert ["shell", str(workspace)] == made[-2:]


@pytest.mark.parametrize("version", ["early", "late"])
def test_sandbox_that_stays_is_used_again(fake_sbx: FakeSbx, workspace: Path) -> None:
    """By its kind and workspace; `force_recreate` removes it first, and another workspace gets
    another.
    """
    other = workspace.parent / "other"
    other.mkdir()

    def turn(place: Path, **options: bool) -> str | None:
        sandbox = DockerSbxSandbox(workspace=place, remove_on_exit=False, **options)
        session = sandbox.prepare(SHELL, None)
        sandbox.run(session, ["true"])
        sandbox.cleanup(session)
        return session.sandbox_name

    first = turn(workspace)
    assert first == turn(workspace)
    assert 1 == len(fake_sbx.calls("create"))
    assert first != turn(other)
    turn(workspace, force_recreate=True)
    assert 3 == len(fake_sbx.calls("create"))
    assert 1 == len(fake_sbx.calls("rm"))
    assert 2 == len(fake_sbx.knows()["sandboxes"])


def test_name_of_another_agent_is_refused(fake_sbx: FakeSbx, workspace: Path) -> None:
    keys = {"openai": "OPENAI_API_KEY"}
    DockerSbxSandbox.set_global_secret("openai", "sk-key")
    for agent in (CODEX, SHELL):
        sandbox = DockerSbxSandbox(
            workspace=workspace, name="mine", remove_on_exit=False, secret_env=keys
        )
        session = sandbox.prepare(agent, None)
        if agent is CODEX:
            sandbox.run(session, ["codex", "exec", "hi"])
        else:
            with pytest.raises(ValueError, match="of agent codex"):
                sandbox.run(session, ["true"])


@pytest.mark.parametrize("version", ["middle", "late"])
def test_hosts_are_allowed_for_one_sandbox(fake_sbx: FakeSbx, workspace: Path) -> None:
    """A rule is of the sandbox, goes with it, and none is of all sandboxes."""
    sandbox = DockerSbxSandbox(workspace=workspace, network_allow=["example.org:443"])
    session = sandbox.prepare(SHELL, None)
    seen = sandbox.run(session, ["sh", "-c", "echo $SBX_RULES"])
    assert "example.org:443\n" == seen.stdout
    assert {session.sandbox_name: ["example.org:443"]} == fake_sbx.knows()["rules"]
    sandbox.cleanup(session)
    assert {} == fake_sbx.knows()["rules"]


@pytest.mark.parametrize("version", ["early"])
def test_rules_of_all_sandboxes_are_refused(fake_sbx: FakeSbx, workspace: Path) -> None:
    sandbox = DockerSbxSandbox(workspace=workspace, network_allow=["example.org"])
    session = sandbox.prepare(SHELL, None)
    with pytest.raises(UnsupportedError, match=r"sbx policy allow network example\.org"):
        sandbox.run(session, ["true"])
    assert {} == fake_sbx.knows()["rules"]
    sandbox.cleanup(session)
    assert {} == fake_sbx.knows()["sandboxes"]


@pytest.mark.parametrize("version", ["middle", "early"])
def test_timeout_ends_what_runs_inside(fake_sbx: FakeSbx, workspace: Path) -> None:
    """The program here is ended, and what runs in the sandbox, too."""
    sandbox = DockerSbxSandbox(workspace=workspace, remove_on_exit=False)
    session = sandbox.prepare(SHELL, RunConfig(timeout_seconds=1))
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        sandbox.run(session, ["sh", "-c", "echo $$ > pid; echo begun; exec sleep 300"])
    assert "begun\n" == caught.value.output
    pid = int((workspace / "pid").read_text())
    until = time.monotonic() + 20
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(pid)
    sandbox.cleanup(session)


@VERSIONS
def test_keys(fake_sbx: FakeSbx, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are kept by Docker's program, and stand on no command line."""
    kind = DockerSbxSandbox
    assert not kind.has_global_secret("openai")
    with pytest.raises(SandboxError, match=r"sbx secret set .*openai"):
        kind.check_agent_secrets("codex")
    kind.check_agent_secrets("shell")
    kind.set_global_secret("openai", "sk-secret-value")
    assert kind.has_global_secret("openai")
    assert not kind.has_global_secret("anthropic")
    kind.check_agent_secrets("codex")
    assert "sk-secret-value" == fake_sbx.knows()["secrets"]["openai"]
    assert "sk-secret-value" not in json.dumps(fake_sbx.calls())


def test_key_comes_from_the_variable_that_is_named(
    fake_sbx: FakeSbx, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = DockerSbxSandbox(workspace=workspace, secret_env={"anthropic": "MY_KEY"})
    with pytest.raises(SandboxError, match="export MY_KEY"):
        sandbox.ensure_agent_secret("claude")
    monkeypatch.setenv("MY_KEY", "from-here")
    sandbox.ensure_agent_secret("claude")
    monkeypatch.setenv("MY_KEY", "another")
    sandbox.ensure_agent_secret("claude")  # what is kept wins
    assert {"anthropic": "from-here"} == fake_sbx.knows()["secrets"]


def test_sign_in(fake_sbx: FakeSbx, workspace: Path) -> None:
    """A key that is kept needs no sign-in, unless it is to be renewed each time."""
    DockerSbxSandbox(workspace=workspace, secret_oauth=["openai"]).ensure_agent_secret("codex")
    DockerSbxSandbox(workspace=workspace, secret_oauth=["openai"]).ensure_agent_secret("codex")
    assert 1 == len(fake_sbx.calls("secret", "set"))
    renewing = DockerSbxSandbox(workspace=workspace, secret_oauth_refresh=["openai"])
    renewing.ensure_agent_secret("codex")
    assert [["secret", "set", "-g", "openai", "--oauth"]] * 2 == fake_sbx.calls("secret", "set")


@pytest.mark.parametrize("version", ["early"])
def test_sign_in_that_a_version_lacks(fake_sbx: FakeSbx) -> None:
    with pytest.raises(UnsupportedError, match="--oauth"):
        DockerSbxSandbox.set_global_oauth_secret("openai")


def test_codex_gets_its_arguments_and_its_host(
    fake_sbx: FakeSbx, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program starts Codex itself; a key that was just kept makes the sandbox a new one."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-key")
    agent = Agent("coder", AgentBackend("codex", Auth("openai_api_key_env")))
    sandbox = DockerSbxSandbox(workspace=workspace, remove_on_exit=False)
    session = sandbox.prepare(agent, None)
    result = sandbox.run(session, ["codex", "exec", "--json", "do it"])
    assert "args: exec --json do it" in result.stdout
    assert ["api.openai.com:443"] == fake_sbx.knows()["rules"][session.sandbox_name]
    assert {"openai": "sk-key"} == fake_sbx.knows()["secrets"]


def test_codex_sign_in_of_the_host_is_copied(
    fake_sbx: FakeSbx, workspace: Path, places: Path
) -> None:
    """It comes in by standard input, for its user alone to read; what is no sign-in does not."""
    sandbox = DockerSbxSandbox(workspace=workspace, codex_auth_from_host=True, remove_on_exit=False)
    session = sandbox.prepare(CODEX, None)
    with pytest.raises(SandboxError, match="codex login"):
        sandbox.run(session, ["codex", "exec", "hi"])
    folder = places / ".codex"
    folder.mkdir()
    for text in ("no json", '{"auth_mode": "apikey"}'):
        (folder / "auth.json").write_text(text)
        with pytest.raises(SandboxError, match="codex login"):
            sandbox.run(session, ["codex", "exec", "hi"])
    login = '{"auth_mode": "chatgpt", "tokens": {"access": "t"}}'
    (folder / "auth.json").write_text(login)
    sandbox.run(session, ["codex", "exec", "hi"])
    copy = fake_sbx.home(str(session.sandbox_name)) / ".codex" / "auth.json"
    assert login == copy.read_text()
    assert 0o600 == copy.stat().st_mode & 0o777
    assert "chatgpt.com:443" in fake_sbx.knows()["rules"][session.sandbox_name]
    sandbox.cleanup(session)


def test_lines_are_shown_as_the_filter_has_them(
    fake_sbx: FakeSbx, workspace: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is captured is all of it; what is shown has no escape sequences."""

    def only_loud(line: str, source: str) -> str | None:
        return f"{source}: {line.upper()}" if "loud" in line else None

    sandbox = DockerSbxSandbox(workspace=workspace)
    config = RunConfig(stream_output=True, metadata={"stream_filter": only_loud})
    session = sandbox.prepare(SHELL, config)
    words = "printf 'quiet\\nlo\\033[31mud\\n'; printf 'loud\\033[2J\\n' >&2"
    result = sandbox.run(session, ["sh", "-c", words])
    sandbox.cleanup(session)
    assert "quiet\nlo\x1b[31mud\n" == result.stdout
    shown = capfd.readouterr()
    assert ("", "stderr: LOUD\n") == (shown.out, shown.err)


@VERSIONS
def test_readiness(fake_sbx: FakeSbx, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it finds of itself is told with what to type; what it skips is no problem."""
    DockerSbxSandbox.check_ready()
    checks = [
        {"name": "KVM", "status": "skip"},
        {"name": "Authentication", "status": "fail", "message": "not signed in"},
        {"name": "Daemon", "status": "fail", "hint": "Run: sbx daemon start"},
    ]
    monkeypatch.setenv("FAKE_SBX_DIAGNOSIS", json.dumps({"checks": checks}))
    assert not DockerSbxSandbox.is_ready()
    with pytest.raises(SandboxError) as caught:
        DockerSbxSandbox.check_ready()
    assert "sbx login\nsbx daemon start" == caught.value.hint
    monkeypatch.setenv("FAKE_SBX_DIAGNOSIS", "what?")
    with pytest.raises(SandboxError, match="sbx diagnose"):
        DockerSbxSandbox.check_ready()


def test_missing_program_is_said_and_nothing_stands_in(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each call says how it is installed; no container of ours is made instead."""
    monkeypatch.setenv("PATH", str(tmp_path))
    kind = DockerSbxSandbox
    sandbox = kind(workspace=workspace)
    session = sandbox.prepare(SHELL, None)
    assert not kind.is_available()
    assert not kind.is_ready()
    for call in (
        kind.check_available,
        kind.check_ready,
        lambda: kind.has_global_secret("openai"),
        lambda: sandbox.ensure_agent_secret("codex"),
        lambda: sandbox.run(session, ["true"]),
    ):
        with pytest.raises(BackendUnavailableError, match="sbx login") as caught:
            call()
        assert "engine='builtin'" in str(caught.value)


def test_fields_that_mean_nothing_with_an_engine_are_refused(workspace: Path) -> None:
    for field, value in (("workdir", "/x"), ("idle_timeout", 5.0), ("backend", "podman")):
        with pytest.raises(UnsupportedError, match=field):
            DockerSbxSandbox(workspace=workspace, **{field: value})
    for field in ("secret_oauth", "secret_oauth_refresh"):
        with pytest.raises(UnsupportedError, match="secret_env"):
            DockerSbxSandbox(workspace=workspace, engine="builtin", **{field: ["openai"]})
    with pytest.raises(UnsupportedError, match="secret_env"):
        DockerSbxSandbox.set_global_oauth_secret("openai", engine="builtin")


def test_variables_are_refused(
    fake_sbx: FakeSbx, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker's program hands on none, so that a turn with some does not begin."""
    monkeypatch.setenv("NAME", "value")
    sandbox = DockerSbxSandbox(workspace=workspace)
    with_variables = Agent("helper", AgentBackend("shell"), {"NAME": "value"})
    for agent, config in (
        (with_variables, None),
        (SHELL, RunConfig(env={"NAME": "value"})),
        (SHELL, RunConfig(forward_env=["NAME"])),
        (SHELL, RunConfig(secret_env=["NAME"])),
    ):
        with pytest.raises(UnsupportedError, match=r"variables \(NAME\)") as caught:
            sandbox.prepare(agent, config)
        assert "value" not in str(caught.value)
    session = sandbox.prepare(SHELL, None)
    session.metadata["env"] = {"NAME": "value"}
    with pytest.raises(UnsupportedError, match="variables"):
        sandbox.run(session, ["true"])
    assert [] == fake_sbx.calls("create")


@pytest.mark.parametrize("version", ["early"])
def test_run_says_that_its_sandbox_stays(fake_sbx: FakeSbx, workspace: Path) -> None:
    sandbox = DockerSbxSandbox(workspace=workspace)
    session = sandbox.prepare(SHELL, RunConfig(remove_on_exit=False))
    sandbox.run(session, ["true"])
    sandbox.cleanup(session)
    assert [session.sandbox_name] == list(fake_sbx.knows()["sandboxes"])
