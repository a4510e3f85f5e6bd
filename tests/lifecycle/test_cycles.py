"""Sessions come and go, in threads and forks, and what the process has stays constant."""

# ruff: noqa: E501
# Because: hosts are programs.

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import create_session
from llm_sandbox.exceptions import (
    ContainerGoneError,
    NotOpenSessionError,
    SandboxError,
    SandboxTimeoutError,
    SessionClosedError,
)
from llm_sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

COUNT = """
import os, subprocess, sys, threading, time
from llm_sandbox import create_session
from llm_sandbox.session.prefork import shared_pool
def count():
    shared_pool().clear(); time.sleep(1.5)
    groups = subprocess.run(["find", "/sys/fs/cgroup", "-name", f"llm-sandbox-{os.getpid()}-*"],
                            capture_output=True, text=True).stdout.split()
    inner = sum(len(os.listdir(g)) for g in groups)
    mine, grown = {os.getpid()}, True
    while grown:
        grown = False
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try: text = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
            except OSError: continue
            if text[0] not in "ZX" and int(text[1]) in mine and int(pid) not in mine:
                mine.add(int(pid)); grown = True
    return (len(os.listdir("/proc/self/fd")), threading.active_count(), len(mine), len(groups), inner,
            len(open("/proc/self/mountinfo").readlines()))
"""


def test_sixty_sessions_cost_nothing_that_stays(start: Callable[[str], Any]) -> None:
    """Descriptors, threads, processes, groups and mounts are the same after 5 and after 65
    sessions.
    """
    host = start(
        COUNT
        + """
def cycle(number):
    with create_session("bubblewrap") as session:
        session.run("print(1)")
        if number % 3 == 0: session.execute_command("true")
        if number % 5 == 0: session.sandbox.files.write_text("a", "b")
        if number % 7 == 0: session.run("import os; os._exit(1)")
for number in range(5): cycle(number)
before = count()
for number in range(60): cycle(number)
after = count()
print(before, after, before == after)
"""
    )
    _, said = host.finish(100)
    assert said.strip().endswith("True"), said


def test_twelve_sessions_in_four_threads_do_not_mix() -> None:
    """Every run's output holds its own token and no other, in stdout, files and variables."""
    wrong: list[str] = []

    def work(thread: int) -> None:
        try:
            sessions = [create_session("bubblewrap") for _ in range(3)]
            for session in sessions:
                session.open()
            for turn in range(4):
                for number, session in enumerate(sessions):
                    token = f"token-{thread}-{number}-"
                    code = f"token = '{token}'\nfor i in range(200): print(token + str({turn}))\nopen('t', 'a').write(token)"
                    result = session.run(code, timeout=30)
                    if result.stdout != f"{token}{turn}\n" * 200:
                        wrong.append(result.stdout[:200])
            for number, session in enumerate(sessions):
                text = session.sandbox.files.read_text("t")
                if text != f"token-{thread}-{number}-" * 4:
                    wrong.append(text)
                session.close()
        except BaseException as error:  # noqa: BLE001 - reported by the test
            wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert wrong == []


def test_a_session_outlives_the_thread_that_made_it(start: Callable[[str], Any]) -> None:
    """A session opened in a thread that ended two seconds ago still runs code, also as the first
    ever.
    """
    host = start("""
import threading, time
from llm_sandbox import create_session
made = []
def make():
    session = create_session("bubblewrap"); session.open(); session.run("kept = 42"); made.append(session)
thread = threading.Thread(target=make); thread.start(); thread.join()
time.sleep(2)
print(made[0].run("print(kept)").stdout)
""")
    _, said = host.finish()
    assert said.strip() == "42"


def test_a_fork_of_the_host_leaves_the_parent_its_sessions(start: Callable[[str], Any]) -> None:
    """After os.fork the child's use of an inherited session is a typed error, its own session works, and
    the parent's goes on, also after the child has ended normally.
    """
    host = start("""
import os, sys
from llm_sandbox import create_session
from llm_sandbox.exceptions import SandboxError
session = create_session("bubblewrap"); session.open(); session.run("kept = 42")
pid = os.fork()
if pid == 0:
    try:
        session.sandbox.exec("true"); print("child used the parent's")
    except SandboxError as error:
        print("child:", type(error).__name__, flush=True)
    try:
        result = session.run("kept = 0", timeout=5); print("child ran in the parent's", flush=True)
    except SandboxError as error:
        print("child run:", type(error).__name__, flush=True)
    with create_session("bubblewrap") as own:
        print("child own", own.run("print(7)").stdout, flush=True)
    sys.exit(0)
os.waitpid(pid, 0)
print("parent", session.run("print(kept)", timeout=10).stdout, session.execute_command("echo works").stdout)
session.close()
""")
    _, said = host.finish()
    assert "child: " in said
    assert "child used the parent's" not in said
    assert "child own 7" in said
    assert "parent 42" in said
    assert "works" in said
    assert "child run: " in said


def test_the_sessions_time_ends_a_run() -> None:
    """session_timeout ends a run in the middle: soon, with what was printed, and said as it is."""
    session = create_session("bubblewrap", session_timeout=2)
    session.open()
    began = time.monotonic()
    try:
        result = session.run("print('before', flush=True)\nimport time\ntime.sleep(60)")
    except SandboxTimeoutError as error:
        result = error.result  # type: ignore[assignment]
    assert time.monotonic() - began < 5
    assert "before" in result.stdout
    assert result.status in ("timeout", "killed")
    assert result.state == "lost"
    assert not session.is_open
    for use in (
        lambda: session.run("print(1)"),
        lambda: session.execute_command("true"),
        lambda: session.copy_from_runtime("a", "b"),
        lambda: session.install(["six"]),
    ):
        for kind in (NotOpenSessionError, SandboxTimeoutError, ContainerGoneError):
            with pytest.raises(kind, match="session_timeout of 2 s"):
                use()
    session.close()


def test_a_session_that_nobody_uses_expires() -> None:
    """It is open until then, and can be opened again after."""
    with create_session("bubblewrap", session_timeout=1) as session:
        assert session.is_open
        session.run("x = 1")
        limit = time.monotonic() + 20
        while session.is_open and time.monotonic() < limit:
            time.sleep(0.05)
        assert not session.is_open
        assert "closed" in repr(session)
        session.open()
        assert session.is_open
        assert "NameError" in session.run("x").stderr


def test_a_session_is_opened_again() -> None:
    """It gets a new sandbox with its settings: history is kept, variables and files are not."""
    session = create_session("bubblewrap", env={"NAME": "value"})
    for number in range(3):
        with session:
            found = session.run("import os; print(os.environ['NAME'], os.listdir(), 'x' in dir())")
            assert found.stdout == "value [] False\n"
            session.run("x = 1; _ = open('left', 'w').write('x')")
        assert not session.is_open
        assert len(session.history) == 2 * number + 2


def test_a_machine_ends_at_its_deadline_without_a_run() -> None:
    """A sandbox nobody uses ends by itself, kills what it started, and says why."""
    sandbox = Sandbox.create(backend="bubblewrap", timeout=1)
    process = sandbox.exec("sleep", "60")
    began = time.monotonic()
    assert process.wait(timeout=5) == 137
    assert time.monotonic() - began < 3
    assert (sandbox.poll(), sandbox.end_reason) == (124, "deadline")
    with pytest.raises(ContainerGoneError):
        sandbox.exec("true")
    sandbox.destroy()


def test_close_from_another_thread_ends_a_run() -> None:
    """close() during a run returns at once; the run ends within two seconds with what came before."""
    session = create_session("bubblewrap")
    session.open()
    ends: list[Any] = []
    started = threading.Event()

    def work() -> None:
        try:
            ends.append(
                session.run(
                    "print('before', flush=True)\nwhile True: pass",
                    on_stdout=lambda text: started.set(),
                )
            )
        except BaseException as error:  # noqa: BLE001 - looked at below
            ends.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert started.wait(20)
    began = time.monotonic()
    session.close()
    assert time.monotonic() - began < 1
    thread.join(3)
    assert not thread.is_alive()
    ended = ends[0]
    assert isinstance(ended, SandboxError) or ended.status in ("killed", "crashed", "exited"), ended
    with pytest.raises(SessionClosedError):
        session.run("print(1)")


def test_wrong_order_is_a_typed_error() -> None:
    """Each use before open and after close is refused by name, and closing twice does nothing."""
    session = create_session("bubblewrap")
    for use in (
        lambda: session.run("print(1)"),
        lambda: session.execute_command("true"),
        lambda: session.sandbox,
        lambda: session.copy_from_runtime("a", "b"),
        session.restart,
    ):
        with pytest.raises(NotOpenSessionError):
            use()
    session.open()
    kept = session.sandbox
    session.close()
    session.close()
    for use in (
        lambda: session.run("print(1)"),
        lambda: session.execute_command("true"),
        lambda: session.sandbox,
        lambda: kept.exec("true"),
        lambda: kept.files.list("."),
    ):
        with pytest.raises(SessionClosedError):
            use()


def test_a_dropped_session_ends_with_the_process(
    start: Callable[[str], Any], gone: Any, nothing: Any
) -> None:
    """A session whose object is dropped without close() keeps the process from nothing and is gone
    after it.
    """
    host = start("""
from llm_sandbox import create_session
for _ in range(3):
    session = create_session("bubblewrap"); session.open(); session.run("x = 1")
    del session
print("end")
""")
    assert host.finish(20) == (0, "end\n")
    assert gone(host) == nothing


def test_threads_that_come_first_together_share_one_supervisor(start: Callable[[str], Any]) -> None:
    """Four threads that open a process's first sessions at the same moment start one supervisor."""
    host = start("""
import threading, time
from llm_sandbox import create_session
barrier = threading.Barrier(4)
def work():
    barrier.wait()
    session = create_session("bubblewrap"); session.open(); session.run("print(1)")
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("ready"); time.sleep(60)
""")
    host.wait_for("ready")
    assert host.left()["processes"].count("supervisor") == 1


def test_nothing_is_forked_from_a_process_with_threads(start: Callable[[str], Any]) -> None:
    """What sessions are forked from has one thread when everything is loaded, pyarrow included.

    A lock that a thread holds during a fork is never released in the fork.
    """
    host = start(
        """
import psutil
from llm_sandbox import create_session
from llm_sandbox.backends.registry import get_backend
create_session("bubblewrap").open()
assert get_backend("bubblewrap").wait_until_warm("blocked", 60)
with create_session("bubblewrap") as session:
    loaded = session.run("import sys; print('pyarrow' in sys.modules)").stdout.strip()
    found = [p for p in psutil.Process().children(recursive=True) if p.name() == "zygote"]
    print(loaded, [p.num_threads() for p in found])
"""
    )
    status, said = host.finish()
    assert (status, said) == (0, "True [1]\n")
