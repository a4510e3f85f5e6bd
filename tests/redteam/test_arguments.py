"""Arguments of the caller's that carry a model's words: taken literally, or refused before
anything starts.
"""

# ruff: noqa: E501
# Because: attacks are programs, one a line.

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import create_session
from llm_sandbox.exceptions import CommandEmptyError, LaunchError, SandboxError, ValidationError
from llm_sandbox.sandbox import Sandbox

LIBRARIES = [
    "x; touch /tmp/redteam-pwned",
    "$(touch /tmp/redteam-pwned)",
    "--index-url=http://127.0.0.1",
    "-r/etc/passwd",
    "-e .",
    "git+https://example.invalid/x",
    "./d",
    "/tmp/x.whl",
    "p @ file:///x",
    "p @ https://example.invalid/x.whl",
    "https://example.invalid/x.whl",
    "x\n--index-url=http://127.0.0.1",
    "x\0y",
    "",
    " ",
    "x --pre",
    "x==1 --hash=sha256:0",
    "x; python_version > '3' # touch",
]


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_is_a_plain_requirement(session: Any, name: str) -> None:
    """What is no plain requirement is refused with a ValidationError before any process starts."""
    with pytest.raises(ValidationError):
        session.run("print('ran')", libraries=[name])
    with pytest.raises(ValidationError):
        session.install([name])
    assert not Path("/tmp/redteam-pwned").exists()
    assert not session.sandbox.files.exists("/tmp/redteam-pwned")


@pytest.mark.parametrize("name", ["", "A=B", "A\0B", "=", 5, "\ud800"])
def test_environment_names_are_checked(name: Any) -> None:
    """A variable whose name or value the kernel would read otherwise is refused, by each door."""
    with pytest.raises(ValidationError):
        create_session("bubblewrap", env={name: "x"}).open()
    with pytest.raises(ValidationError):
        Sandbox.create(backend="bubblewrap", env={name: "x"})


def test_environment_values_are_checked(session: Any) -> None:
    """NUL and non-text values are refused; `LD_PRELOAD` and the like reach only what is inside."""
    for value in ("a\0b", 5, None):
        with pytest.raises(ValidationError):
            session.sandbox.exec("true", env={"A": value})
    os.environ.pop("LD_PRELOAD", None)
    said = session.sandbox.exec(
        "sh", "-c", "echo $BASH_ENV", env={"BASH_ENV": "/nowhere"}
    ).collect()
    assert said.stdout == "/nowhere\n"
    assert "BASH_ENV" not in os.environ


def test_words_of_a_command_are_literal(session: Any) -> None:
    """Every metacharacter reaches the program as it was given; no shell reads it."""
    words = [
        "$(id)",
        "`id`",
        ";",
        "|",
        "&&",
        ">",
        "*",
        "~",
        "a b",
        "'",
        '"',
        "\n",
        "\\",
        "--",
        "-x",
        "",
    ]
    echo = "import sys; print(ascii(sys.argv[1:]))"
    said = session.execute_command(["python3", "-c", echo, *words]).stdout
    assert said == ascii(words) + "\n"


def test_a_command_that_looks_like_an_option_is_a_name(session: Any) -> None:
    """A program called `--bind` is looked for, not understood by the machinery that starts it."""
    for name in ("--bind", "-c", "--", "/etc", "/sandbox"):
        with pytest.raises(LaunchError):
            session.sandbox.exec(name, "/", "/")
    with pytest.raises(CommandEmptyError):
        session.sandbox.exec()
    with pytest.raises(ValidationError):
        session.sandbox.exec("a\0b")


def test_a_working_directory_is_inside(session: Any) -> None:
    """A working directory by way of an open descriptor, or of the host's names, is none."""
    for folder in (
        "/proc/self/fd/7",
        "/proc/1/root",
        "/nowhere",
        "/root",
        str(Path.cwd() / "tests"),
    ):
        with pytest.raises(SandboxError):
            session.sandbox.exec("pwd", cwd=folder).collect()
    with pytest.raises(SandboxError):
        session.sandbox.exec("pwd", cwd="a\0b")


@pytest.mark.parametrize(
    "workdir", ["/proc/x", "/etc", "relative", "/sandbox/../etc", "/", "/usr/lib", "/dev/shm", "a\0b",
                "/opt", "/sys", "", "//etc", "/./etc"]
)  # fmt: skip
def test_a_session_does_not_live_in_the_system(workdir: str) -> None:
    """A workdir over a folder of the system is refused, or stands for the default."""
    if workdir == "":
        with create_session("bubblewrap", workdir=workdir) as opened:
            assert opened.sandbox.workdir == "/sandbox"
        return
    with pytest.raises(ValidationError):
        create_session("bubblewrap", workdir=workdir)


@pytest.mark.parametrize(
    "workdir", ["/etc", "/proc/self", "/usr/lib", "/", "/dev", "/sandbox/../etc", "relative"]
)
def test_a_sandbox_does_not_live_in_the_system(workdir: str) -> None:
    """`Sandbox.create` refuses what `create_session` refuses."""
    with pytest.raises(SandboxError):
        Sandbox.create(backend="bubblewrap", workdir=workdir).destroy()


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("twenty megabytes", "# " + "x" * (20 << 20) + "\nprint('end')"),
        ("twenty megabytes of text", "data = '" + "x" * (20 << 20) + "'\nprint('end')"),
    ],
)
def test_long_code_runs(session: Any, name: str, code: str) -> None:
    """A cell of 20 MB runs to its last line."""
    assert session.run(code, timeout=60).stdout == "end\n"


@pytest.mark.parametrize(
    "code", ["print(1)\0print(2)", "x = '\ud800'", "\ufeffprint(1)", "\0", "é = '\U0001f600'"]
)
def test_odd_code_is_run_or_an_error_of_its_own(session: Any, code: str) -> None:
    """NUL, lone surrogates and marks in code end as a result or a ValidationError; the session
    goes on.
    """
    with contextlib.suppress(ValidationError):
        session.run(code, timeout=10)
    assert session.run("print(6 * 7)", timeout=10).stdout == "42\n"


@pytest.mark.parametrize("code", [None, 5, b"print(1)", ["print(1)"]])
def test_code_is_text(session: Any, code: Any) -> None:
    """What is no text is refused by type."""
    with pytest.raises(ValidationError):
        session.run(code)


@pytest.mark.parametrize(
    "options",
    [{"privileged": True}, {"network_mode": "host"}, {"volumes": {"/": {}}}, {"cap_add": ["ALL"]},
     {"pid_mode": "host"}, {"devices": ["/dev/mem"]}, {"security_opt": ["seccomp=unconfined"]}],
)  # fmt: skip
def test_options_that_open_the_sandbox_are_refused(options: dict[str, Any]) -> None:
    """An engine option that would open the sandbox is refused, not ignored."""
    with pytest.raises(SandboxError):
        create_session("bubblewrap", runtime_configs=options)
