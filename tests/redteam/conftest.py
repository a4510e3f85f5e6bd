"""Fixtures of the red team: attack programs from `corpus`, run inside, and outside as a control.

A control runs the same program where the layer under test is absent: as a plain process of the same
unprivileged user, or in a bubblewrap of the test's own. An attack that fails there, too, proves
nothing.
"""

# ruff: noqa: PTH112, PTH208
# Because: what the kernel has is read as it is.

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import create_session
from llm_sandbox.exceptions import SandboxTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENGINES = ("/var/lib/docker", "/var/lib/containers", "/run/docker", "/run/containers", "/netns")
OURS = ("supervisor", "zygote", "kernel", "init", "files", "llm-sandbox", "bwrap")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.redteam)


# --- what is left


def descendants(root: int) -> dict[int, str]:
    """Living descendants of a process: pid to name."""
    parents: dict[int, tuple[int, str]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = Path(f"/proc/{entry}/stat").read_text(errors="replace")
            except OSError:
                continue
            name = text[text.index("(") + 1 : text.rindex(")")]
            state, parent = text[text.rindex(")") + 2 :].split()[:2]
            if state not in "ZX":
                parents[int(entry)] = (int(parent), name)
    found: dict[int, str] = {}
    grown = {root}
    while grown:
        grown = {pid for pid, (parent, _) in parents.items() if parent in grown}
        found |= {pid: parents[pid][1] for pid in grown}
    return found


def cgroups_of(pid: int) -> list[str]:
    """Control groups that a process of ours made."""
    if not os.path.isdir("/sys/fs/cgroup"):
        return []
    command = ["find", "/sys/fs/cgroup", "-name", f"llm-sandbox-{pid}-*"]
    return subprocess.run(command, capture_output=True, text=True).stdout.split()


def own_facts() -> dict[str, Any]:
    """What this process has that a sandbox could leave behind."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    # Container engines mount a container's root while it runs.
    mounts = [line for line in lines if not any(place in line for place in ENGINES)]
    return {
        "processes": sorted(n for n in descendants(os.getpid()).values() if n in OURS),
        "cgroups": cgroups_of(os.getpid()),
        "mounts": len(mounts),
        "shm": sorted(os.listdir("/dev/shm")),
        "ipc": Path("/proc/sysvipc/shm").read_text(),
    }


def added(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What is there now and was not before; what others had open may be gone."""
    new = {}
    for name, value in after.items():
        if isinstance(value, list):
            more = list((Counter(value) - Counter(before[name])).elements())
        elif isinstance(value, int):
            more = max(0, value - before[name])
        else:
            more = [] if value == before[name] else [value]
        if more:
            new[name] = more
    return new


@pytest.fixture(scope="session", autouse=True)
def nothing_left() -> Iterator[None]:
    """After all attacks no process, control group, mount, or shared memory is there that was not
    before.
    """
    before = own_facts()
    yield
    from llm_sandbox.backends.registry import get_backend
    from llm_sandbox.session.prefork import shared_pool

    shared_pool().clear()
    get_backend("bubblewrap").close()
    deadline = time.monotonic() + 8
    while (new := added(before, own_facts())) and time.monotonic() < deadline:
        time.sleep(0.1)
    after = own_facts()
    print(f"\nleft behind by the red team: {after['processes']} {after['cgroups']}")
    assert not new


def readable_python() -> str:
    """An interpreter that every user of this machine may start."""
    real = Path(sys.executable).resolve()
    folders = [*real.parents, *Path(sys.executable).parents]
    if os.geteuid() != 0 or all(folder.stat().st_mode & 0o001 for folder in folders):
        return sys.executable
    return shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or sys.executable


# --- running


@pytest.fixture
def session() -> Iterator[Any]:
    """A session of the test's own, small whatever the machine."""
    with create_session("bubblewrap", memory="1g") as opened:
        yield opened


@pytest.fixture
def attempt() -> Callable[..., Any]:
    """Run a cell; its result, also when the time was up."""

    def run(session: Any, code: str, timeout: float = 10.0) -> Any:
        try:
            return session.run(code, timeout=timeout)
        except SandboxTimeoutError as error:
            return error.result

    return run


@pytest.fixture(scope="session")
def corpus() -> Callable[..., str]:
    """The text of an attack program, which finds its arguments as `ARGUMENTS`."""

    def read(file: str, /, **arguments: object) -> str:
        program = (HERE / "corpus" / file).read_text()
        return f"ARGUMENTS = {arguments!r}\n{program}"

    return read


@pytest.fixture(params=["cell", "program"])
def inside(request: pytest.FixtureRequest) -> Callable[[Any, str], dict[str, Any]]:
    """Run an attack program inside, as a cell of the forked kernel and as a program of its own."""

    def as_cell(session: Any, program: str) -> dict[str, Any]:
        result = session.run(program, timeout=60)
        assert result.exit_code == 0, result.stderr[-2000:]
        return dict(json.loads(result.stdout.splitlines()[-1]))

    def as_program(session: Any, program: str) -> dict[str, Any]:
        process = session.sandbox.exec("python3", "-", stdin=program, timeout=60)
        result = process.collect()
        assert result.exit_code == 0, result.stderr[-2000:]
        return dict(json.loads(result.stdout.splitlines()[-1]))

    return as_cell if request.param == "cell" else as_program


@pytest.fixture
def outside(plain_user: int) -> Callable[..., dict[str, Any]]:
    """Run an attack program on the host: as the unprivileged user, or as `root` if we are that."""

    def run(program: str, *, root: bool = False, wrapper: tuple[str, ...] = ()) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if os.geteuid() == 0 and not root:
            options = {"user": plain_user, "group": plain_user, "extra_groups": []}
        done = subprocess.run(
            [*wrapper, readable_python(), "-I", "-"],
            input=program,
            capture_output=True,
            text=True,
            timeout=60,
            cwd="/",
            env={"PATH": os.environ["PATH"]},
            **options,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return dict(json.loads(done.stdout.splitlines()[-1]))

    return run


@pytest.fixture
def host() -> Iterator[Callable[..., str]]:
    """Run Python that uses the library in a host process of its own, killed after `limit` seconds.

    For attacks that may hang the process that suffers them. Returns what it printed.
    """
    started: list[subprocess.Popen[str]] = []

    def run(code: str, limit: float = 30.0, open_files: int | None = None) -> str:
        words = [sys.executable, "-c", code]
        if open_files is not None:
            words = ["sh", "-c", f'ulimit -n {open_files}; exec "$@"', "sh", *words]
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        started.append(process)
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
            said += f"\nHANGS: not done after {limit} s"
        return said

    yield run
    for process in started:
        with_stdout = process.stdout
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if with_stdout is not None:
            with_stdout.close()


# --- bait


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """A random word, and where it lies: files of the host, and the environment of its processes."""
    word = f"canary{secrets.token_hex(12)}"
    folders = {
        "home": Path.home(),
        "cwd": Path.cwd(),
        "tmp": Path("/tmp"),
        "var": Path("/var/tmp"),
        "pytest": tmp_path,
    }
    places = {}
    for name, folder in folders.items():
        path = folder / f"{word}.txt"
        path.write_text(word)
        path.chmod(0o644)
        places[name] = str(path)
    os.environ["REDTEAM_CANARY"] = word
    sleeper = subprocess.Popen(["sleep", "300"], env={"SECRET": word, "PATH": os.environ["PATH"]})
    yield word, places
    sleeper.kill()
    sleeper.wait()
    del os.environ["REDTEAM_CANARY"]
    for path_text in places.values():
        Path(path_text).unlink()


@pytest.fixture
def guarded() -> Callable[[], dict[str, str]]:
    """Digests of files of the host that no sandbox may change."""

    def digest() -> dict[str, str]:
        facts = {}
        for name in ("/etc/passwd", "/etc/hosts", "/etc/group", "/proc/sys/kernel/core_pattern"):
            path = Path(name)
            if path.exists():
                facts[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in ("/", "/etc", "/usr", "/opt", "/tmp"):
            names = [n for n in os.listdir(folder) if n.startswith(("redteam-", "x-redteam"))]
            facts[folder] = ",".join(sorted(names))
        return facts

    return digest
