"""Bad input: every mistake is a typed error, and the session stays usable."""

from collections.abc import Iterator
from typing import Any

import pytest

from llm_sandbox import (
    ArtifactSandboxSession,
    BaseSession,
    SandboxBackend,
    SandboxSession,
    SecurityViolationError,
    UnsupportedError,
    ValidationError,
    create_session,
    get_security_policy,
)
from llm_sandbox.exceptions import (
    CommandEmptyError,
    LanguageNotSupportedError,
    LaunchError,
    NotOpenSessionError,
    PathError,
    SessionClosedError,
    UnsupportedBackendError,
)


@pytest.fixture(scope="module")
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as opened:
        yield opened


@pytest.mark.parametrize("name", ["cobol", "", "python4"])
def test_an_unknown_language_is_named(name: str) -> None:
    """An unknown language is refused with the ones that are known."""
    with pytest.raises(LanguageNotSupportedError, match="python"):
        create_session(lang=name)


def test_an_unknown_backend_is_a_typed_error() -> None:
    """An unknown backend is refused with those that there are."""
    with pytest.raises(UnsupportedBackendError, match="bubblewrap"):
        create_session("dokcer")


@pytest.mark.parametrize("code", [None, b"print(1)", 3])
def test_code_that_is_not_text(session: BaseSession, code: Any) -> None:
    """Code must be text; the session stays usable."""
    with pytest.raises(ValidationError, match="code"):
        session.run(code)

    assert "1\n" == session.run("print(1)").stdout


@pytest.mark.parametrize("timeout", [-1, 0, float("nan"), "soon", True])
def test_a_bad_timeout(session: BaseSession, timeout: Any) -> None:
    """A timeout that is no positive number is refused by name."""
    with pytest.raises(ValidationError, match="timeout"):
        session.run("1", timeout=timeout)


@pytest.mark.parametrize(
    "library",
    ["x; touch y", "--index-url=http://127.0.0.1", "git+https://h/x", "./d", "p @ file:///x", ""],
)
def test_a_library_that_is_no_plain_name(session: BaseSession, library: str) -> None:
    """A library name that could mean anything else is refused before anything runs."""
    with pytest.raises(ValidationError):
        session.run("1", libraries=[library])

    assert 0 == session.run("1").exit_code


@pytest.mark.parametrize(
    "workdir", ["relative", "/sandbox/../etc", "/etc", "/proc/x", "/", "/a\0b", "/usr/x"]
)
def test_a_bad_workdir(workdir: str) -> None:
    """A working directory must be absolute and no place of the system's."""
    with pytest.raises(ValidationError, match="workdir"):
        create_session("bubblewrap", workdir=workdir)


@pytest.mark.parametrize("path", ["a\0b", ""])
def test_a_bad_path_in_the_sandbox(session: BaseSession, path: str) -> None:
    """A path that cannot be one is refused."""
    with pytest.raises((PathError, ValidationError)):
        session.sandbox.files.read_text(path)


def test_run_before_open() -> None:
    """A session that is not open says how to open it."""
    with pytest.raises(NotOpenSessionError, match="with"):
        create_session("bubblewrap").run("1")


def test_a_closed_session_is_closed() -> None:
    """After `close` every use is refused, and closing again does nothing."""
    session = create_session("bubblewrap")
    session.open()
    session.close()
    session.close()

    for use in (lambda: session.run("1"), lambda: session.execute_command("true")):
        with pytest.raises(SessionClosedError):
            use()


@pytest.mark.parametrize("command", [None, "", "  ", [], ()])
def test_no_command(session: BaseSession, command: Any) -> None:
    with pytest.raises(CommandEmptyError):
        session.execute_command(command)


@pytest.mark.parametrize("command", [1, b"ls", {"a": 1}, [1], [None]])
def test_what_is_no_command(session: BaseSession, command: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        session.execute_command(command)
    assert caught.value.parameter in ("command", "argv")
    with pytest.raises(ValidationError):
        session.execute_commands(["true", command])


@pytest.mark.parametrize("option", ["image", "dockerfile", "container_id"])
def test_container_options_are_refused_and_not_ignored(option: str) -> None:
    """What only a container engine has is refused where there is none."""
    with pytest.raises(UnsupportedError, match=option):
        create_session("bubblewrap", **{option: "x"})


def test_container_switches_are_refused() -> None:
    """A switch that asks for an image is refused where there is none."""
    with pytest.raises(UnsupportedError, match="commit_container"):
        ArtifactSandboxSession("bubblewrap", commit_container=True)
    with pytest.raises(UnsupportedError, match="environment") as caught:
        ArtifactSandboxSession("bubblewrap", environment="base")
    assert "micromamba" in str(caught.value.hint)


def test_where_no_image_is_built_none_is_kept() -> None:
    assert "bubblewrap" == ArtifactSandboxSession("bubblewrap", keep_template=True).backend


HARDENING: dict[str, Any] = {
    "auto_remove": True,
    "cap_add": [],
    "cap_drop": ["ALL"],
    "detach": True,
    "network_mode": "none",
    "privileged": False,
    "read_only": True,
    "security_opt": ["no-new-privileges:true"],
    "user": "nobody",
}


def test_hardening_that_there_is_anyway_is_accepted() -> None:
    """And it is there: code has no capability, and no way to another user or to the root."""
    with create_session("bubblewrap", runtime_configs=HARDENING) as session:
        result = session.run(
            "import os\n"
            "facts = dict(l.split(':', 1) for l in open('/proc/self/status'))\n"
            "print(*(facts[k].strip() for k in ('CapEff', 'CapBnd', 'NoNewPrivs')), os.getuid())\n"
            "open('/etc/x', 'w')"
        )
    effective, bounding, locked, user = result.stdout.split()
    assert (0, 0, "1") == (int(effective, 16), int(bounding, 16), locked)
    assert "0" != user
    assert "Read-only file system" in result.stderr


@pytest.mark.parametrize(
    "option",
    [
        {"privileged": True},
        {"cap_add": ["SYS_ADMIN"]},
        {"read_only": False},
        {"user": "root"},
        {"user": "0:0"},
        {"network_mode": "bridge"},
        {"security_opt": ["no-new-privileges:false"]},
        {"security_opt": ["no-new-privileges:true", "seccomp=unconfined"]},
        {"auto_remove": False},
    ],
    ids=str,
)
def test_what_contradicts_the_hardening_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match=next(iter(option))):
        create_session("bubblewrap", runtime_configs=option)


@pytest.mark.parametrize("name", ["cap_drop", "privileged", "read_only", "security_opt", "user"])
def test_hardening_that_nothing_enforces_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match="nothing enforces it"):
        create_session("local", runtime_configs={name: HARDENING[name]})


def test_no_network_and_a_network() -> None:
    with pytest.raises(ValidationError, match="network_mode"):
        create_session("bubblewrap", network="open", runtime_configs={"network_mode": "none"})


def test_the_working_directory_has_two_names() -> None:
    for workdir in ("/sandbox", "/work"):
        configs = {"working_dir": "/work"}
        session = create_session("bubblewrap", workdir=workdir, runtime_configs=configs)
        assert "/work" == session.config.workdir
    with pytest.raises(ValidationError, match="working_dir"):
        create_session("bubblewrap", workdir="/a", runtime_configs={"working_dir": "/b"})


@pytest.mark.parametrize("backend", [None, "bubblewrap"])
@pytest.mark.parametrize(("guess", "name"), [("memory", "mem_limit"), ("env", "environment")])
def test_a_guessed_name_is_told_the_right_one(backend: str | None, guess: str, name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        create_session(backend, runtime_configs={guess: "1g"})
    assert f"did you mean {name!r}?" == caught.value.hint


def test_runtime_configs_are_honoured_or_refused() -> None:
    """Engine options are taken over where they have a meaning and refused where not."""
    config = create_session(
        "bubblewrap", runtime_configs={"mem_limit": "512m", "cpu_count": 2, "timeout": 30}
    ).config

    assert (512 << 20, 2.0, 30.0) == (
        config.limits.memory_bytes,
        config.limits.cpus,
        config.execution_timeout,
    )
    with pytest.raises(UnsupportedError, match="privileged"):
        create_session("bubblewrap", runtime_configs={"privileged": True})


def test_an_unknown_keyword_is_an_error() -> None:
    """A misspelt option is not swallowed."""
    with pytest.raises(TypeError, match="tmieout"):
        create_session("bubblewrap", tmieout=3)  # type: ignore[call-arg]


def test_commands_that_cannot_start(session: BaseSession) -> None:
    """An empty command, a missing program and a missing directory each have their error."""
    with pytest.raises(CommandEmptyError):
        session.execute_command("  ")
    with pytest.raises(LaunchError) as missing:
        session.execute_command(["no-such-program"])
    with pytest.raises(LaunchError) as nowhere:
        session.execute_command(["true"], workdir="/no/such/place")

    assert ("not_found", "bad_cwd") == (missing.value.kind, nowhere.value.kind)


def test_a_policy_is_enforced() -> None:
    """Code that the policy refuses is not run."""
    with create_session("bubblewrap", security_policy=get_security_policy("strict")) as session:
        safe, found = session.is_safe("import os; os.system('id')")
        with pytest.raises(SecurityViolationError):
            session.run("open('ran', 'w'); import os; os.system('id')")

        assert not safe
        assert found
        assert not session.sandbox.files.exists("ran")
        assert "2" == session.run("1 + 1").value


def test_the_seed_names_make_sessions() -> None:
    """`SandboxSession` is `create_session`, and backends are accepted as enum members."""
    assert SandboxSession is create_session
    assert "bubblewrap" == create_session(SandboxBackend.BUBBLEWRAP).backend


@pytest.mark.parametrize(
    "code", ["x = 'a\0b'", "'\ud800'", "\ufeffprint(1)", "print(1)" + " " * 10**6]
)
def test_odd_code_is_a_result(session: BaseSession, code: str) -> None:
    """Code with odd characters, or a lot of it, ends in a result."""
    assert session.run(code).exit_code in (0, 1)
    assert "1\n" == session.run("print(1)").stdout
