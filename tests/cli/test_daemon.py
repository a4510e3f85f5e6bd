"""The command daemon: a second `llm-sandbox run` is one of its workers', and is like any other."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import COMMAND, Done, environment

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("isolation"),
    pytest.mark.skipif(sys.platform != "linux", reason="the command daemon is Linux's"),
]


class Daemon:
    """Commands that share a runtime directory, and so a daemon."""

    def __init__(self, folder: Path, cwd: Path) -> None:
        self.folder, self.cwd = folder, cwd
        self.variables = environment(XDG_RUNTIME_DIR=str(folder), LLM_SANDBOX_CLI_DAEMON_S="60")

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*COMMAND, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.cwd,
            env=self.variables,
        )

    def run(self, *words: str, stdin: str | None = None, **changes: str) -> Done:
        done = subprocess.run(
            [*COMMAND, *words],
            input=None if stdin is None else stdin.encode(),
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            cwd=self.cwd,
            env={**self.variables, **changes},
            timeout=100,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    @property
    def pid(self) -> int | None:
        try:
            return int(json.loads((self.folder / "llm-sandbox/daemon.json").read_text())["pid"])
        except OSError:
            return None

    def workers(self) -> set[int]:
        """The living children of the daemon."""
        if self.pid is None:
            return set()
        try:
            children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        except OSError:
            return set()
        return {int(child) for child in children.split()}

    def wait_for_worker(self) -> set[int]:
        """Wait until a worker has its sandbox open: a process of its own below it."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for worker in self.workers():
                tasks = Path(f"/proc/{worker}/task").glob("*/children")
                if any(_read(path).strip() for path in tasks) and _is_waiting(worker):
                    return {worker}
            time.sleep(0.05)
        raise AssertionError("no worker became ready")

    def stop(self) -> None:
        """End the daemon, and others that are starting."""
        mark = f"XDG_RUNTIME_DIR={self.folder}".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    pid = int(path.parent.name)
                    os.kill(pid, signal.SIGTERM)
                    _gone(pid)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _is_waiting(pid: int) -> bool:
    """Tell a worker that is ready: its main thread receives from a socket."""
    return "__skb_wait_for_more_packets" == _read(Path(f"/proc/{pid}/wchan"))


def _gone(pid: int) -> None:
    end = time.monotonic() + 20
    while Path(f"/proc/{pid}").exists():
        if _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1] == ["Z"]:
            return  # whoever adopted it has yet to notice
        assert time.monotonic() < end, f"process {pid} did not end"
        time.sleep(0.02)


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A runtime directory whose path is as short as those of users: sockets' paths are limited."""
    with tempfile.TemporaryDirectory(prefix="run-") as folder:
        yield Path(folder)


@pytest.fixture
def daemon(runtime: Path, tmp_path: Path) -> Iterator[Daemon]:
    """A daemon with a worker that is ready."""
    one = Daemon(runtime, tmp_path)
    first = one.run("run", "-c", "print('first')")
    assert Done(0, "first\n", "") == first
    one.wait_for_worker()
    yield one
    one.stop()
    assert not [path for path in runtime.rglob("*") if not path.is_dir()]


def served(daemon: Daemon, *words: str, **options: str) -> Done:
    """Run a command, and see the waiting worker end with it."""
    before = daemon.wait_for_worker()
    done = daemon.run(*words, **options)
    for worker in before:
        _gone(worker)
    return done


def test_a_command_is_run_by_the_worker(daemon: Daemon) -> None:
    assert Done(0, "2\n", "") == served(daemon, "run", "-c", "print(2)")


def test_another_login_has_the_same_daemon(daemon: Daemon) -> None:
    assert "2\n" == served(daemon, "run", "-c", "print(2)", XDG_SESSION_ID="login-2").out


def test_a_worker_runs_one_command_only(daemon: Daemon) -> None:
    """Files and variables of one command are not there for the next."""
    code = "import os; print(sorted(os.listdir('.')), 'x' in globals()); x = 1; os.mkdir('mark')"
    for _ in range(3):
        assert "[] False\n" == served(daemon, "run", "-c", code).out


def test_streams_codes_files_and_arguments_are_the_commands(daemon: Daemon) -> None:
    (daemon.cwd / "script.py").write_text(
        "import sys\nprint(sys.argv, input())\nprint('oh', file=sys.stderr)\nsys.exit(7)\n"
    )
    done = served(daemon, "run", "script.py", "--stdin", "-", "a", "b", stdin="typed\n")
    assert Done(7, "['script.py', 'a', 'b'] typed\n", "oh\n") == done
    done = served(
        daemon, "run", "--out", "made", "-c",
        "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()",
    )  # fmt: skip
    assert 0 == done.code
    assert [path.name for path in (daemon.cwd / "made").iterdir()] == ["figure-1.png"]
    assert 2 == served(daemon, "run", "--no-such-option").code
    done = served(daemon, "run", "-c", "1 / 0")
    assert 1 == done.code
    assert "ZeroDivisionError" in done.err


def test_other_options_are_honoured(daemon: Daemon) -> None:
    """A sandbox that is not the prepared one is opened for them."""
    done = served(daemon, "run", "--env", "A=b", "-c", "import os; print(os.environ['A'])")
    assert Done(0, "b\n", "") == done
    code = "import resource; b = bytearray(600 << 20); print('fits')"
    done = served(daemon, "run", "--memory", "300m", "-c", code)
    assert done.code != 0
    assert "fits" not in done.out
    assert "fits\n" == served(daemon, "run", "-c", code).out  # the control


def test_ctrl_c_ends_the_code_and_not_more(daemon: Daemon) -> None:
    daemon.wait_for_worker()
    process = daemon.start("run", "-c", "print('begun', flush=True)\nwhile True: pass")
    assert process.stdout is not None
    assert b"begun\n" == process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert 130 == process.wait(30)
    process.communicate()
    assert Done(0, "1\n", "") == daemon.run("run", "-c", "print(1)")


def test_a_killed_command_takes_its_sandbox_along(daemon: Daemon) -> None:
    (worker,) = daemon.wait_for_worker()
    process = daemon.start("run", "-c", "print('begun', flush=True)\nwhile True: pass")
    assert process.stdout is not None
    assert b"begun\n" == process.stdout.readline()
    process.kill()
    process.communicate()
    _gone(worker)


def test_a_killed_worker_is_told(daemon: Daemon) -> None:
    (worker,) = daemon.wait_for_worker()
    process = daemon.start("run", "-c", "print('begun', flush=True)\nwhile True: pass")
    assert process.stdout is not None
    assert b"begun\n" == process.stdout.readline()
    os.kill(worker, signal.SIGKILL)
    _, err = process.communicate(timeout=30)
    assert 125 == process.returncode
    assert b"the command daemon" in err


@pytest.mark.parametrize(
    "change", [{"LLM_SANDBOX_PRELOAD": "science"}, {"PATH": "/usr/bin:/bin:/nowhere"}]
)
def test_a_command_of_another_context_runs_by_itself(
    daemon: Daemon, change: dict[str, str]
) -> None:
    """Settings, resource limits and rights of a command are never those of another."""
    before = daemon.wait_for_worker()
    assert "3\n" == daemon.run("run", "-c", "print(3)", **change).out
    assert _is_waiting(next(iter(before)))


def test_a_command_with_other_resource_limits_runs_by_itself(daemon: Daemon) -> None:
    (worker,) = daemon.wait_for_worker()
    done = subprocess.run(
        ["sh", "-c", 'ulimit -n 512 && exec "$@"', "sh", *COMMAND, "run", "-c", "print(4)"],
        cwd=daemon.cwd,
        env={**daemon.variables, "LLM_SANDBOX_CLI_DAEMON_S": "60"},
        capture_output=True,
        timeout=100,
    )
    assert b"4\n" == done.stdout
    assert not Path(f"/proc/{worker}").exists() or _is_waiting(worker)


def test_changed_settings_end_the_daemon(daemon: Daemon, tmp_path: Path) -> None:
    """Settings that have changed since the start of the daemon are never used."""
    config = tmp_path / "config" / "llm-sandbox"
    other = Daemon(daemon.folder, daemon.cwd)
    other.variables["XDG_CONFIG_HOME"] = str(config.parent)
    other.run("run", "-c", "print(1)")
    other.wait_for_worker()
    pid = other.pid
    assert pid is not None
    config.mkdir(parents=True)
    (config / "config.toml").write_text("cli_daemon_s = 0\n")
    assert "2\n" == other.run("run", "-c", "print(2)").out
    _gone(pid)


def test_nothing_of_the_daemon_is_seen_inside(daemon: Daemon) -> None:
    """Descriptors and environment inside are those of any sandbox."""
    code = (
        "import os, json; links = sorted(os.readlink(f'/proc/self/fd/{fd}').partition(':')[0]"
        " for fd in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{fd}'));"
        "print(json.dumps([links, sorted(os.environ), os.getcwd(), os.getuid() != 0]))"
    )
    ordinary = daemon.run("run", "-c", code, LLM_SANDBOX_CLI_DAEMON_S="0")
    assert json.loads(ordinary.out) == json.loads(served(daemon, "run", "-c", code).out)


def test_without_the_setting_there_is_no_daemon(runtime: Path, tmp_path: Path) -> None:
    one = Daemon(runtime, tmp_path)
    one.variables["LLM_SANDBOX_CLI_DAEMON_S"] = "0"
    assert Done(0, "1\n", "") == one.run("run", "-c", "print(1)")
    assert not list(runtime.iterdir())


def test_a_folder_that_others_can_enter_is_not_used(daemon: Daemon) -> None:
    before = daemon.wait_for_worker()
    folder = daemon.folder / "llm-sandbox"
    folder.chmod(0o755)
    try:
        assert Done(0, "1\n", "") == daemon.run("run", "-c", "print(1)")
        assert _is_waiting(next(iter(before)))
    finally:
        folder.chmod(0o700)


def test_the_daemon_ends_when_it_is_not_used(runtime: Path, tmp_path: Path) -> None:
    one = Daemon(runtime, tmp_path)
    one.variables["LLM_SANDBOX_CLI_DAEMON_S"] = "3"
    one.run("run", "-c", "print(1)")
    end = time.monotonic() + 30
    while one.pid is None and time.monotonic() < end:
        time.sleep(0.02)
    pid = one.pid
    assert pid is not None
    _gone(pid)
    assert not list(runtime.iterdir())


def test_it_is_told_of_and_ended(daemon: Daemon) -> None:
    """`ps` names the process, and `stop --all` ends it."""
    daemon.variables["XDG_STATE_HOME"] = str(daemon.cwd)  # where nothing is detached
    pid = daemon.pid
    assert pid is not None
    assert f"process {pid} keeps a sandbox ready" in daemon.run("ps").err
    assert pid == json.loads(daemon.run("ps", "--json").out)["command_daemon"]["pid"]
    done = daemon.run("stop", "--all")
    assert f"ended process {pid}" in done.out
    _gone(pid)
    assert "command_daemon" not in daemon.run("ps", "--json").out


def test_an_ignored_ctrl_c_stays_ignored(runtime: Path, tmp_path: Path) -> None:
    """A shell starts background jobs so; a command that runs by itself keeps to it."""
    one = Daemon(runtime, tmp_path)
    one.variables["LLM_SANDBOX_CLI_DAEMON_S"] = "0"
    code = "print('begun', flush=True)\nimport time; time.sleep(1); print('ended')"
    process = subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *COMMAND, "run", "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        env=one.variables,
    )
    assert process.stdout is not None
    assert b"begun\n" == process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (b"ended\n", 0) == (out, process.returncode)
