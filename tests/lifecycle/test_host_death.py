"""However a host process ends, nothing of its sandboxes is there five seconds later."""

# ruff: noqa: E501
# Because: hosts are programs.

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

TEN = """
import os, sys, threading, time
from llm_sandbox import create_session
sessions = [create_session("bubblewrap", start="cold" if n == 9 else "warm") for n in range(10)]
for session in sessions: session.open()
BUSY = "import os, signal, subprocess\\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\\n" \\
       "if os.fork() == 0:\\n  os.setsid()\\n  if os.fork(): os._exit(0)\\n  while True: pass\\n" \\
       "subprocess.Popen(['sleep', '300'], start_new_session=True)\\nwhile True: pass"
for session in sessions[:4]:
    threading.Thread(target=session.run, args=(BUSY,), daemon=True).start()
for session in sessions[4:]:
    session.run("open('a.txt', 'w').write('x' * 1000)")
sessions[4].sandbox.exec("sleep", "300")
sessions[5].sandbox.files.read_bytes("a.txt")
time.sleep(1.0)
"""


@pytest.fixture(autouse=True)
def there_was_something(request: pytest.FixtureRequest) -> None:
    """Nothing; each test asserts by itself that there was something to be left."""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_killed_host_leaves_nothing(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any, number: int
) -> None:
    """Ten sessions, some busy with children that left them, are gone five seconds after the
    signal.
    """
    host = start(TEN + "print('ready'); time.sleep(300)")
    host.wait_for("ready")
    there = host.left()["processes"]
    assert there.count("bwrap") + there.count("supervisor") >= 1
    assert there.count("sleep") >= 4
    host.kill(number)
    assert gone(host) == nothing


def test_a_fork_of_the_host_keeps_nothing_alive(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any
) -> None:
    """A forked child of the host that keeps every descriptor does not keep the killed host's
    sandboxes.
    """
    host = start(
        TEN
        + """
child = os.fork()
if child == 0:
    time.sleep(9)
    os._exit(0)
print('ready', child)
time.sleep(300)
"""
    )
    child = int(host.wait_for("ready").split()[-1])
    host.kill()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = host.left()
        names = [name for name in left["processes"] if not name.startswith("python")]
        if not names and not left["cgroups"]:
            break
        time.sleep(0.05)
    assert (names, left["cgroups"], left["mounts"]) == ([], [], [])
    del child


@pytest.mark.parametrize("delay", [0.05, 0.15, 0.3, 0.5, 0.8])
def test_a_host_killed_while_it_opens_leaves_nothing(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any, delay: float
) -> None:
    """A host killed at any moment of its first open() leaves nothing."""
    host = start(
        "from llm_sandbox import create_session\n"
        "print('ready')\n"
        "s = create_session('bubblewrap'); s.open(); print('open'); s.run('while True: pass')"
    )
    host.wait_for("ready")
    time.sleep(delay)
    host.kill()
    assert gone(host) == nothing


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "raise SystemExit(3)",
        "raise ValueError",
        "import os; os._exit(1)",
        "import os; os.abort()",
    ],
)
def test_an_end_without_close_leaves_nothing(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any, ending: str
) -> None:
    """A program that ends without closing its sessions, normally or not, ends soon and leaves
    nothing.
    """
    host = start(
        "from llm_sandbox import create_session\n"
        "s = [create_session('bubblewrap') for _ in range(3)]\n"
        "for one in s: one.open()\n"
        "s[0].run('import os\\nif os.fork() == 0:\\n  os.setsid()\\n  while True: pass')\n"
        f"s[1].sandbox.exec('sleep', '300')\nprint('ready', flush=True)\n{ending}"
    )
    host.wait_for("ready")
    began = time.monotonic()
    _, said = host.finish(10)
    assert time.monotonic() - began < 8
    if not ending:
        assert said == ""
    assert gone(host) == nothing


def test_a_host_that_ignores_its_childrens_ends_leaves_nothing(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any
) -> None:
    """What it ignores is inherited, also by those who have to wait for a sandbox's end."""
    host = start(
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "from llm_sandbox import Sandbox\n"
        "with Sandbox.create(backend='bubblewrap') as sandbox:\n"
        "    print(sandbox.check('echo', 'ready').stdout)"
    )
    host.wait_for("ready")
    assert host.finish(30)[0] == 0
    assert gone(host) == nothing


def test_an_exception_in_a_with_block_closes(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any
) -> None:
    """The exception comes through as it is, and the session it left is closed."""
    host = start("""
from llm_sandbox import create_session
try:
    with create_session("bubblewrap") as session:
        session.run("import os\\nif os.fork() == 0:\\n  while True: pass")
        raise KeyError("mine")
except KeyError as error:
    print(error, session.is_open)
""")
    status, said = host.finish()
    assert (status, said) == (0, "'mine' False\n")
    assert gone(host) == nothing


def test_ctrl_c_stops_the_code(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any
) -> None:
    """SIGINT during a run is a KeyboardInterrupt in the host, and the next run is an honest one."""
    host = start("""
import time
from llm_sandbox import create_session
with create_session("bubblewrap") as session:
    try:
        session.run("kept = 1\\nprint('go')\\nwhile True: pass", on_stdout=lambda text: print("busy"))
    except KeyboardInterrupt:
        print("interrupted")
    print(session.run("print(6 * 7)", timeout=10).stdout)
""")
    host.wait_for("busy")
    host.kill(signal.SIGINT)
    status, said = host.finish(20)
    assert status == 0
    assert "interrupted" in said
    assert "42" in said
    assert gone(host) == nothing


def test_ctrl_c_stops_code_that_does_not_listen(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any
) -> None:
    """Code that ignores SIGINT does not go on unseen after Ctrl-C: the next run is not behind it."""
    host = start("""
import time
from llm_sandbox import create_session
with create_session("bubblewrap") as session:
    try:
        session.run("import signal\\nsignal.signal(2, signal.SIG_IGN)\\nprint('go', flush=True)\\nwhile True: pass",
                    on_stdout=lambda text: print("busy"))
    except KeyboardInterrupt:
        print("interrupted")
    began = time.monotonic()
    try:
        print(session.run("print(6 * 7)", timeout=6).stdout)
    except Exception as error:
        print(type(error).__name__)
""")
    host.wait_for("busy")
    host.kill(signal.SIGINT)
    status, said = host.finish(30)
    assert "interrupted" in said
    assert "42" in said, said
    assert status == 0
    assert gone(host) == nothing


POOL = """
import os, sys, threading, time
from llm_sandbox.pool import PoolClosedError, SandboxPool
pool = SandboxPool(2, backend="bubblewrap", max_sessions=4, warm_up="x = 1")
pool.wait_until_ready(60)
session = pool.claim()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_host_leaves_nothing_of_its_pools(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any, number: int
) -> None:
    """Ready sessions, a claimed one that is busy, and those being created are gone as well."""
    host = start(
        POOL
        + "threading.Thread(target=session.run, args=('while True: pass',), daemon=True).start()\n"
        + "time.sleep(0.3); print('ready'); time.sleep(300)"
    )
    host.wait_for("ready")
    there = host.left()["processes"]
    assert there.count("bwrap") + there.count("supervisor") >= 1
    host.kill(number)
    assert gone(host) == nothing


@pytest.mark.parametrize("ending", ["", "raise SystemExit(3)", "raise ValueError"])
def test_an_end_without_close_leaves_nothing_of_a_pool(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any, ending: str
) -> None:
    """Nobody waits for a claimed session that is not closed, nor for a claim of a thread."""
    host = start(
        POOL
        + "def work():\n  try: pool.claim()\n  except PoolClosedError: pass\n"
        + "for _ in range(6): threading.Thread(target=work, daemon=True).start()\n"
        + f"print('ready', flush=True)\n{ending}"
    )
    host.wait_for("ready")
    _, said = host.finish(20)
    # `wait_for` has read the line; the exit itself has nothing to say.
    assert ("" if ending != "raise ValueError" else said) == said
    assert gone(host) == nothing


def test_a_forked_child_has_an_empty_pool(
    start: Callable[[str], Any], gone: Callable[..., Any], nothing: Any
) -> None:
    """It creates sessions of its own, and its end takes none of the parent's."""
    host = start(
        POOL
        + """
pool.wait_until_ready(60)
mine = session.sandbox.id
child = os.fork()
if child == 0:
    held = pool.metrics
    print("child", held.ready, held.claimed, held.created)
    with pool.claim(timeout=60) as own:
        print("child", own.run("print(x + 1)").stdout.strip(), own.sandbox.id != mine)
    pool.close()
    print("child", pool.metrics.ready, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("parent", pool.metrics.ready, pool.metrics.claimed)
print("parent", session.run("print(x + 2)").stdout.strip())
session.close()
with pool.claim(timeout=0) as other:
    print("parent", other.run("print(x + 3)").stdout.strip())
pool.close()
print("end", pool.metrics.ready)
"""
    )
    status, said = host.finish(90)
    assert said.splitlines() == [
        "child 0 0 0",
        "child 2 True",
        "child 0",
        "parent 2 1",
        "parent 3",
        "parent 4",
        "end 0",
    ]
    assert status == 0
    assert gone(host) == nothing


def test_no_zombie_is_left_in_a_living_host(start: Callable[[str], Any]) -> None:
    """After its sessions are closed a living host has the supervisor's processes and no zombie."""
    host = start("""
import time
from llm_sandbox import create_session
from llm_sandbox.session.prefork import shared_pool
for _ in range(5):
    with create_session("bubblewrap") as session:
        session.run("import os\\nfor _ in range(20):\\n  if os.fork() == 0: os._exit(0)")
shared_pool().clear()
time.sleep(1)
print("ready")
time.sleep(60)
""")
    host.wait_for("ready")
    import subprocess

    said = subprocess.run(["ps", "-eo", "ppid,stat,comm"], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in said.splitlines()[1:]]
    assert [row for row in rows if int(row[0]) == host.pid and row[1].startswith("Z")] == []
    names = host.left()["processes"]
    assert "kernel" not in names
    assert "files" not in names
