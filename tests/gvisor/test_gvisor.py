"""Specifics of the gVisor backend: its own kernel, its limits, its processes on the host."""

from __future__ import annotations

import os
import platform
import signal
import socket
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.base import ProcessSpec
from llm_sandbox.backends.gvisor.backend import GvisorBackend
from llm_sandbox.backends.gvisor.binary import find_runsc
from llm_sandbox.backends.python_environment import LAYERS_ROOT
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError, UnsupportedError
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.settings import get_settings
from llm_sandbox.testing.suite import eventually
from tests.gvisor.processes import groups_of, is_root, launchers_of, processes_of, still

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.backends.base import Backend

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def backend() -> Backend:
    backend = get_backend("gvisor")
    try:
        backend.check()
    except BackendUnavailableError as error:
        pytest.skip(f"gvisor: {error.message}")
    return backend


@pytest.fixture
def sandbox(backend: Backend) -> Iterator[Sandbox]:
    with Sandbox.create(backend=backend) as sandbox:
        yield sandbox


# --- the program


def test_a_missing_runsc_says_how_to_get_it(tmp_path: Path) -> None:
    """Without runsc the error has the command to type."""
    with pytest.raises(BackendUnavailableError) as caught:
        find_runsc(str(tmp_path))

    assert (caught.value.backend, caught.value.hint) == ("gvisor", "apt-get install runsc")


@pytest.mark.parametrize("script", ["#!/bin/sh\nexit 1\n", "#!/no/such/shell\n"])
def test_a_runsc_that_does_not_run_is_told(tmp_path: Path, script: str) -> None:
    """A file of that name that is no runsc is an error that names it."""
    program = tmp_path / "runsc"
    program.write_text(script)
    program.chmod(0o755)

    with pytest.raises(BackendUnavailableError, match=str(program)):
        find_runsc(str(tmp_path))


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ("ptrace (default), kvm", ("ptrace",)),
        ("systrap (default), ptrace, kvm", ("systrap", "ptrace")),
    ],
)
def test_the_quickest_platform_comes_first(
    tmp_path: Path, known: str, expected: tuple[str, ...]
) -> None:
    """Of the platforms that a version knows, those without a device are tried, quickest first."""
    program = tmp_path / "runsc"
    program.write_text(
        "#!/bin/sh\ncase $1 in\n"
        "--version) echo 'runsc version release-1';;\n"
        f"flags) printf '  -platform string\\n\\tspecifies which platform to use: {known}.\\n';;\n"
        "esac\n"
    )
    program.chmod(0o755)

    assert find_runsc(str(tmp_path)).platforms == expected


# --- the kernel and its walls


def test_the_kernel_is_not_the_hosts(sandbox: Sandbox) -> None:
    """A program talks to gVisor's kernel, which the host's is not."""
    said = sandbox.sh("uname -r; test -e /proc/sentry-meminfo && echo gVisor").collect()

    assert platform.release() not in said.stdout
    assert said.stdout.endswith("gVisor\n")
    assert not Path("/proc/sentry-meminfo").exists()
    assert sandbox.isolation.state("kernel") == "enforced"


def test_what_runs_on_the_host_is_nobody(sandbox: Sandbox) -> None:
    """GVisor's own processes have no user id of an account, or the caller's, who is not root."""
    assert sandbox.exec("true").wait() == 0
    users = {Path(f"/proc/{row.pid}").stat().st_uid for row in processes_of(os.getpid())}

    assert users
    assert 0 not in users
    assert all(user >= 1_700_000_000 for user in users) if is_root() else users == {os.getuid()}


@pytest.mark.redteam
def test_the_host_is_out_of_reach_by_network(sandbox: Sandbox) -> None:
    """A blocked sandbox does not reach a server of the host; an open one does."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 3); print('in')"
        blocked = sandbox.exec("python3", "-c", code).collect(timeout=30)
        with Sandbox.create(backend="gvisor", network="open") as free:
            opened = free.exec("python3", "-c", code).collect(timeout=30)

        assert "in" not in blocked.stdout
        assert opened.stdout == "in\n"


@pytest.mark.redteam
def test_the_supervisor_is_out_of_reach(sandbox: Sandbox) -> None:
    """A program can neither signal process 1 nor read its memory; a child's it can."""
    code = (
        "import ctypes, os, signal, time\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "child = os.fork()\n"
        "if child == 0: time.sleep(60)\n"
        "def reach(pid):\n"
        "    found = []\n"
        "    try: os.kill(pid, 0); found.append('kill')\n"
        "    except OSError: pass\n"
        "    try: open(f'/proc/{pid}/mem', 'rb'); found.append('read')\n"
        "    except OSError: pass\n"
        "    return found\n"
        "print(reach(1), reach(child))\n"
        "os.kill(child, signal.SIGKILL)\n"
    )
    result = sandbox.exec("python3", "-c", code).collect(timeout=30)

    assert result.stdout == "[] ['kill', 'read']\n", result.stderr


@pytest.mark.redteam
def test_no_file_system_is_mounted_inside(sandbox: Sandbox) -> None:
    """Namespaces, in which sizes would not hold, are refused."""
    code = (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "print([libc.unshare(flag) for flag in (0x10000000, 0x20000, 0x40000000)], "
        "libc.mount(b'x', b'/tmp', b'tmpfs', 0, None))"
    )

    assert sandbox.exec("python3", "-c", code).collect().stdout == "[-1, -1, -1] -1\n"


def test_layers_that_come_later_are_seen(sandbox: Sandbox) -> None:
    """What is installed while a sandbox runs appears in it, read-only."""
    name = f"test-{uuid.uuid4().hex}"
    folder = get_settings().cache_dir / "layers" / name
    assert sandbox.sh(f"test -e {LAYERS_ROOT}/{name}").wait() == 1
    folder.mkdir()
    try:
        (folder / "file").write_text("there")
        folder.chmod(0o755)
        said = sandbox.sh(
            f"cat {LAYERS_ROOT}/{name}/file; touch {LAYERS_ROOT}/{name}/x || echo no"
        ).collect()
        assert said.stdout == "thereno\n"
        assert [path.name for path in folder.iterdir()] == ["file"]
    finally:
        (folder / "file").unlink()
        folder.rmdir()


def test_a_builder_writes_to_one_folder(backend: Backend, tmp_path: Path) -> None:
    """What builds layers writes to its folder of the host, and to nothing else of it."""
    staging, other = tmp_path / "staging", tmp_path / "other"
    for folder in (staging, other):
        folder.mkdir()
    (other / "file").write_text("read")
    tmp_path.chmod(0o755)
    code = (
        "import shutil\n"
        "shutil.copy('/given/file', '/build/made')\n"
        "for path in ('/given/x', '/usr/x', '/opt/x'):\n"
        "    try: open(path, 'w'); print(path)\n"
        "    except OSError: pass\n"
    )
    assert isinstance(backend, GvisorBackend)
    with backend.builder(staging, binds={"/given": str(other)}) as machine:
        words = (machine.python(), "-c", code)
        raw = machine.start(ProcessSpec(words, machine.base_env(), "/build", 30))
        with os.fdopen(raw.stdout) as out, os.fdopen(raw.stderr) as err:
            said = out.read(), err.read()
        ended = raw.ending.wait(30)

    assert said == ("", "")
    assert ended is not None
    assert ended.exit_code == 0
    assert [path.name for path in other.iterdir()] == ["file"]
    assert (staging / "made").read_text() == "read"


# --- limits


def test_what_a_user_cannot_limit_is_refused(backend: Backend) -> None:
    """A share of the CPUs is held by a control group, or refused without the right to make one."""
    cpus = Limits(cpus=0.25)
    if not is_root():
        with pytest.raises(UnsupportedError, match="cpus"):
            Sandbox.create(backend=backend, limits=cpus)
        return
    busy = "import time\nend = time.time() + 3\nwhile time.time() < end: pass\n"
    others = set(groups_of(os.getpid()))
    with Sandbox.create(backend=backend, limits=cpus) as sandbox:
        if sandbox.isolation.state("cpu") != "enforced":
            pytest.skip("there are no control groups here")
        own = set(groups_of(os.getpid())) - others
        group = next(path for path in own if "/cpu" in path)
        before = _throttled(group)
        sandbox.exec("python3", "-c", busy).wait()

        assert _throttled(group) > before


def _throttled(group: str) -> int:
    words = Path(group, "cpu.stat").read_text().split()
    return int(words[words.index("nr_throttled") + 1])


def test_memory_of_any_kind_counts(backend: Backend) -> None:
    """Files in memory, shared and private memory are counted together; the sandbox goes on."""
    limits = Limits(memory_bytes=200 << 20, shm_bytes=512 << 20)
    filled = "head -c 150000000 /dev/zero > /dev/shm/fill; "
    grow = "python3 -c \"x = b'x' * 120_000_000; import time; time.sleep(20)\""
    with Sandbox.create(backend=backend, limits=limits) as sandbox:
        alone = sandbox.sh(grow.replace("sleep(20)", "sleep(1)")).collect(timeout=60)
        both = sandbox.sh(filled + "exec " + grow).collect(timeout=60)
        after = sandbox.exec("echo", "works").collect()

    assert (alone.exit_code, alone.oom_killed) == (0, False)
    assert both.oom_killed
    assert after.stdout == "works\n"


@pytest.mark.redteam
def test_a_flood_of_files_harms_nobody_else(backend: Backend) -> None:
    """GVisor limits no number of files: what they take of its memory ends the sandbox at most."""
    code = (
        "import os\n"
        "end = __import__('time').monotonic() + 8\n"
        "n = 0\n"
        "while __import__('time').monotonic() < end:\n"
        "    os.close(os.open(f'/tmp/{n:0200}', os.O_CREAT | os.O_WRONLY)); n += 1\n"
        "print(n)\n"
    )
    with Sandbox.create(backend=backend) as other, Sandbox.create(backend=backend) as sandbox:
        made = sandbox.exec("python3", "-c", code).collect(timeout=60)

        assert int(made.stdout or "1") > 0
        assert sandbox.isolation.state("disk") == "approximated"
        assert other.exec("echo", "works").collect().stdout == "works\n"


# --- the end


@pytest.mark.parametrize("victim", ["launcher", "runsc", "runsc-sandbox", "runsc-gofer"])
def test_killing_a_part_ends_the_whole(backend: Backend, victim: str) -> None:
    """Whichever of a sandbox's processes on the host is killed, the others end, and it says so."""
    before = {*processes_of(os.getpid()), *launchers_of(os.getpid())}
    groups = set(groups_of(os.getpid()))
    with Sandbox.create(backend=backend) as sandbox:
        process = sandbox.exec("sleep", "600")
        launchers = list(set(launchers_of(os.getpid())) - before)
        others = list(set(processes_of(os.getpid())) - before)
        named = [row for row in others if Path(row.words.partition(" ")[0]).name == victim]
        (chosen,) = launchers if victim == "launcher" else named
        os.kill(chosen.pid, signal.SIGKILL)

        assert len(others) >= 5  # with those that programs inside are
        assert process.wait(timeout=10) == 137
        assert eventually(lambda: sandbox.end_reason == "gone")
        assert eventually(lambda: not still([*launchers, *others])), still([*launchers, *others])
    # Groups of sandboxes that ended before this one go meanwhile.
    assert eventually(lambda: set(groups_of(os.getpid())) <= groups)


def test_nothing_is_left_after_many(backend: Backend) -> None:
    """Sandboxes that were destroyed leave no process and no control group."""
    processes, groups = len(processes_of(os.getpid())), len(groups_of(os.getpid()))
    for _ in range(4):
        with Sandbox.create(backend=backend) as sandbox:
            sandbox.exec("true").wait()

    assert eventually(lambda: len(processes_of(os.getpid())) <= processes)
    assert eventually(lambda: len(groups_of(os.getpid())) <= groups)


def test_a_host_that_dies_at_the_start_leaves_nothing(backend: Backend) -> None:
    """A host that is killed while a sandbox starts leaves no process and no control group."""
    code = (
        "import threading, time\n"
        "from llm_sandbox.sandbox import Sandbox\n"
        "print('up', flush=True)\n"
        "Sandbox.create(backend='gvisor')\ntime.sleep(60)\n"
    )
    for delay in (0.1, 0.25, 0.4, 0.6):
        host = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        try:
            assert host.stdout is not None
            host.stdout.readline()
            time.sleep(delay)
            ours = [*launchers_of(host.pid), *processes_of(host.pid)]
        finally:
            host.kill()
            host.communicate()
        pid = host.pid

        assert eventually(lambda ours=ours: not still(ours)), still(ours)  # type: ignore[misc]
        assert eventually(lambda pid=pid: not processes_of(pid)), processes_of(pid)  # type: ignore[misc]
        assert eventually(lambda pid=pid: not groups_of(pid)), groups_of(pid)  # type: ignore[misc]
