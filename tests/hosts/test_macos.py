"""The library as macOS sees it: with its Python's names, and without what is Linux's own.

It runs in a process of its own; the containers are Linux's, and see nothing of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines import STARTED

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_HERE = "import sys; from tests.hosts.other_system import become; become('darwin')\n"


def run(*words: str, timeout: float = 100) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
    # Other tests use the engine meanwhile: what they have in it is none of this run's.
    for name in [name for name in environment if name.startswith("PYTEST_") or name == STARTED]:
        del environment[name]
    return subprocess.run(
        [sys.executable, *words],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def test_every_module_for_it_can_be_imported() -> None:
    done = run("-m", "tests.hosts.import_all", "darwin")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["bubblewrap", "gvisor", "local"])
def test_what_needs_linux_is_refused_in_words(name: str) -> None:
    done = run(
        "-c", f"{_HERE}from llm_sandbox import create_session; create_session(backend={name!r})"
    )
    assert f"{name} needs Linux, and this is macOS" in done.stderr
    assert "backend='docker'" in done.stderr


def test_doctor_says_so_too() -> None:
    done = run(
        "-c",
        f"{_HERE}from llm_sandbox.cli.app import main; sys.argv[1:] = ['doctor', '--json']; main()",
    )
    assert "bubblewrap needs Linux, and this is macOS" in done.stdout
    assert "gvisor needs Linux, and this is macOS" in done.stdout


@pytest.mark.engine("docker", image="python")
def test_rules_of_a_network_are_refused_in_words() -> None:
    program = (
        f"{_HERE}from llm_sandbox import NetworkRules, Sandbox\n"
        "Sandbox.create(backend='docker', network=NetworkRules.allow(domains=['example.org']))"
    )
    done = run("-c", program)
    assert "UnsupportedError" in done.stderr
    assert "of a Linux host" in done.stderr


def test_the_stand_in_fails_where_macos_does() -> None:
    """Without this, the others would prove nothing."""
    tries = {
        "os.memfd_create('x')": "AttributeError",
        "os.pidfd_open(1)": "AttributeError",
        "os.sched_getaffinity(0)": "AttributeError",
        "os.eventfd(0)": "AttributeError",
        "os.pipe2(0)": "AttributeError",
        "__import__('select').epoll()": "AttributeError",
        "__import__('socket').send_fds": "AttributeError",
        "__import__('socket').socket(1).bind('\\0name')": "OSError",
    }
    lines = "".join(
        f"try:\n    {code}\n    print('it works')\n"
        "except Exception as error:\n    print(type(error).__name__)\n"
        for code in tries
    )
    done = run("-c", f"{_HERE}import os\n{lines}")
    assert done.stdout.split("\n")[:-1] == list(tries.values()), done.stderr
    files = (
        'import types; m = types.ModuleType(\'llm_sandbox.x\'); code = """\n'
        "import os\n"
        "for call in (lambda: open('/proc/self/status'), lambda: os.stat('/proc/1')):\n"
        "    try: call(); print('it works')\n"
        '    except FileNotFoundError: print(\'no such file\')\n"""\n'
        "exec(compile(code, 'x', 'exec'), m.__dict__)\n"
    )
    assert run("-c", _HERE + files).stdout == "no such file\nno such file\n"


@pytest.mark.timeout(400)
@pytest.mark.engine("docker", image="python")
def test_sessions_on_docker_are_what_they_are_on_linux() -> None:
    suite = "tests/conformance/test_docker.py::TestSessions"
    words = ("-m", "pytest", "-p", "tests.hosts.darwin", "-n", "0", "-q", "-p", "no:cacheprovider")
    # What the host's side does; the rest happens in the container, which is Linux everywhere.
    words += ("-k", "figure or file or timeout or input or stdin or stream or uploads or restart")
    done = run(*words, suite, timeout=380)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
