"""Two sessions: neither sees, disturbs or outlives into the other."""

# ruff: noqa: PTH208
# Because: names as the kernel has them.

from __future__ import annotations

import ast
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import create_session
from llm_sandbox.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def pair() -> Iterator[tuple[Any, Any]]:
    """Two sessions of one host process, which share a zygote."""
    with create_session("bubblewrap") as first, create_session("bubblewrap") as second:
        yield first, second


def value(session: Any, code: str) -> Any:
    result = session.run(code, timeout=15)
    assert result.exit_code == 0, result.stderr
    return ast.literal_eval(result.stdout)


SEARCH = """
import os
word = {word!r}
found = []
for top in ('/sandbox', '/tmp', '/dev/shm', '/var', '/run', '/home', '/mnt'):
    for folder, folders, names in os.walk(top):
        for name in names + folders:
            if word in name: found.append(os.path.join(folder, name))
for pid in filter(str.isdigit, os.listdir('/proc')):
    for part in ('cmdline', 'environ'):
        try: data = open(f'/proc/{{pid}}/{{part}}', 'rb').read()
        except OSError: continue
        if word.encode() in data and int(pid) != os.getpid(): found.append(part)
print(found)
"""


def test_files_and_processes_are_apart(pair: tuple[Any, Any]) -> None:
    """What one session leaves in its folders and process table is found by it and not by the
    other.
    """
    first, second = pair
    word = f"word{secrets.token_hex(8)}"
    first.run(f"""
import subprocess
for folder in ('/sandbox', '/tmp', '/dev/shm'):
    open(folder + '/{word}', 'w').close()
sleeper = subprocess.Popen(['sleep', '60'], env={{'WORD': '{word}'}})
""")
    search = SEARCH.format(word=word)
    assert value(second, search) == []
    found = value(first, search)
    assert {f"/sandbox/{word}", f"/tmp/{word}", f"/dev/shm/{word}", "environ"} <= set(found)


def test_abstract_sockets_are_apart(pair: tuple[Any, Any]) -> None:
    """An abstract socket and a TCP port of one session take a connection of it, and none of the
    other.
    """
    first, second = pair
    name = f"word{secrets.token_hex(8)}"
    first.run(f"""
import socket
local = socket.socket(socket.AF_UNIX); local.bind('\\0{name}'); local.listen()
tcp = socket.create_server(('127.0.0.1', 45678))
""")
    connect = f"""
import socket
answers = []
for family, address in ((socket.AF_UNIX, '\\0{name}'), (socket.AF_INET, ('127.0.0.1', 45678))):
    with socket.socket(family) as sock:
        answers.append(sock.connect_ex(address))
print(answers)
"""
    assert value(second, connect) == [111, 111]
    assert value(first, connect) == [0, 0]


def test_shared_memory_is_apart(pair: tuple[Any, Any]) -> None:
    """A POSIX and a System V segment of one session do not exist for the other, nor the host."""
    first, second = pair
    before = os.listdir("/dev/shm")
    make = """
import ctypes
from multiprocessing import shared_memory
libc = ctypes.CDLL(None)
block = shared_memory.SharedMemory('redteam-segment', create=True, size=4096)
print([True, libc.shmget(0x5EED, 4096, 0o1666) >= 0])
"""
    look = """
import ctypes, os
libc = ctypes.CDLL(None)
print([os.path.exists('/dev/shm/redteam-segment'), libc.shmget(0x5EED, 4096, 0o666) >= 0])
"""
    made = value(first, make)
    # Without a control group System V segments, which nothing would count, are refused.
    assert made == [True, True] or first.isolation.state("memory") == "approximated"
    assert value(second, look) == [False, False]
    assert value(first, look) == made
    assert os.listdir("/dev/shm") == before
    assert str(0x5EED) not in Path("/proc/sysvipc/shm").read_text()


def test_ptys_are_apart(pair: tuple[Any, Any]) -> None:
    """A terminal opened in one session is in its own /dev/pts alone."""
    first, second = pair
    assert value(first, "import os; near, far = os.openpty(); print([os.ttyname(far)])") == [
        "/dev/pts/0"
    ]
    look = "import os; print([n for n in os.listdir('/dev/pts') if n.isdigit()])"
    assert value(second, look) == []
    assert value(first, look) == ["0"]


def test_random_numbers_differ(pair: tuple[Any, Any]) -> None:
    """Forks of one zygote draw different numbers, names, keys and hash seeds' worth of entropy."""
    code = """
import os, random, secrets, tempfile, uuid, numpy
print([random.random(), float(numpy.random.random()), secrets.token_hex(8), uuid.uuid4().hex,
       os.path.basename(tempfile.mkdtemp()), random.Random().random(),
       float(numpy.random.default_rng().random())])
"""
    first, second = (value(session, code) for session in pair)
    assert [a == b for a, b in zip(first, second, strict=True)] == [False] * len(first)


def test_a_closed_session_leaves_nothing_to_the_next() -> None:
    """Files, processes, variables, modules and patches of a closed session are unknown to ten
    later ones.
    """
    word = f"word{secrets.token_hex(8)}"
    with create_session("bubblewrap", env={"SECRET": word}) as first:
        first.run(f"""
import builtins, os, sys, json, subprocess, types
for folder in ('/sandbox', '/tmp', '/dev/shm'): open(folder + '/{word}', 'w').close()
builtins.residue = json.residue = '{word}'
sys.modules['{word}'] = types.ModuleType('{word}')
os.environ['RESIDUE'] = '{word}'
subprocess.Popen(['setsid', 'sleep', '60'], env={{'WORD': '{word}'}})
""")
    look = f"""
import builtins, json, os, sys
print([hasattr(builtins, 'residue'), hasattr(json, 'residue'), '{word}' in sys.modules,
       '{word}' in str(dict(os.environ))])
"""
    for _ in range(10):
        with create_session("bubblewrap") as later:
            assert value(later, look) == [False] * 4
            assert value(later, SEARCH.format(word=word)) == []


def test_one_session_does_not_take_the_processes_of_another() -> None:
    """A session at its process limit leaves the other its whole own limit."""
    limits = Limits(processes=40)
    fill = """
import os, signal, time
count = 0
try:
    while count < 200:
        if os.fork() == 0:
            signal.alarm(20)
            time.sleep(20)
            os._exit(0)
        count += 1
except BlockingIOError:
    pass
print(count)
"""
    with (
        create_session("bubblewrap", limits=limits) as first,
        create_session("bubblewrap", limits=limits) as second,
    ):
        counts = [value(first, fill), value(second, fill)]
    assert all(25 <= count <= 40 for count in counts), counts


STOPPER = (
    "import os,time,signal\\nif os.fork(): os._exit(0)\\nos.setsid()\\nend=time.time()+8\\n"
    "while time.time()<end:\\n  try: os.kill(-1, signal.SIGSTOP)\\n  except OSError: pass"
)


def test_stopping_what_the_supervisor_starts_stops_nobody_else(host: Callable[..., str]) -> None:
    """A session that sends SIGSTOP to all it sees, while the host starts programs in it, delays no
    other.
    """
    said = host(
        f"""
import os, threading, time
from llm_sandbox import create_session
first, second = create_session("bubblewrap"), create_session("bubblewrap")
first.open(), second.open()
first.execute_command(["python3", "-c", "{STOPPER}"])
for _ in range(3):
    threading.Thread(target=lambda: first.sandbox.exec("true").wait(9), daemon=True).start()
time.sleep(0.3)
began = time.monotonic()
print(second.execute_command("echo alive", timeout=5).stdout, second.run("print(6*7)").stdout)
print("quick" if time.monotonic() - began < 5 else "slow", flush=True)
third = create_session("bubblewrap")
third.open()
print(third.run("print('new')").stdout, flush=True)
os._exit(0)
""",
        limit=40,
    )
    assert "HANGS" not in said, said
    for word in ("alive", "42", "quick", "new"):
        assert word in said


def test_one_session_cannot_take_every_terminal(pair: tuple[Any, Any]) -> None:
    """A session that opens as many terminals as it may leaves the other at least one."""
    first, second = pair
    taken = value(
        first,
        """
import os, signal, time
total = 0
for _ in range(5):
    read, write = os.pipe()
    if os.fork() == 0:
        count = 0
        try:
            while count < 1000:
                os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)
                count += 1
        except OSError:
            pass
        os.write(write, str(count).encode())
        signal.alarm(10)
        time.sleep(10)
        os._exit(0)
    os.close(write)
    total += int(os.read(read, 99))
print(total)
""",
    )
    assert taken > 0
    assert value(second, "import os; print([os.openpty() is not None])") == [True]


def test_descriptors_in_flight_do_not_stop_the_next_session(host: Callable[..., str]) -> None:
    """A session that parks descriptors in sockets leaves a host with the usual 1024 files its
    sessions.
    """
    said = host(
        """
import os
from llm_sandbox import create_session
first = create_session("bubblewrap")
first.open()
parked = first.run('''
import array, os, socket
fd, keep = os.open("/dev/null", 0), []
try:
    for _ in range(400):
        near, far = socket.socketpair()
        keep.append((near, far))
        near.sendmsg([b"x"], [(1, 1, array.array("i", [fd] * 250))])
except OSError as error:
    print("parked", error.errno)
''')
print(parked.stdout)
with create_session("bubblewrap") as second:
    print(second.run("print('second')").stdout, flush=True)
os._exit(0)
""",
        open_files=1024,
    )
    assert "parked 109" in said
    assert "second" in said
