"""User code shares a process with the kernel: whatever it does to the conversation, the host keeps its
head, and the next run works.
"""

# ruff: noqa: E501
# Because: attacks are programs, one a line.

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import create_session
from tests.redteam.conftest import descendants

if TYPE_CHECKING:
    from collections.abc import Callable

SEND = """
import os
from guest import frames
from guest.messages import Channel
kernel = get_ipython().kernel
parent = kernel.get_parent('shell')
def send(channel, kind, content, parent=parent):
    kernel.session.send(Channel(channel), kind, content, parent)
    kernel.wire.flush()
def raw(data):
    kernel.wire.flush()
    data = memoryview(data)
    while data: data = data[os.write(kernel.wire.fileno(), data):]
def frame(body, channel=frames.IOPUB, buffers=0):
    import struct
    raw(struct.pack('<IBBI', 4 + len(body), channel, buffers, len(body)) + body)
"""
BROKEN = {
    "garbage": "raw(os.urandom(4096))",
    "garbage to all": """
for fd in range(3, 256):
    try: os.write(fd, b'\\xff' * 64)
    except OSError: pass
""",
    "two gigabytes announced": "raw(b'\\xff\\xff\\xff\\x7f\\x03\\x00')",
    "deep JSON": "frame(b'[' * 10**6)",
    "deep object": 'frame(b"{" + b\'"a":{\' * 100_000)',
    "not UTF-8": "frame(b'\\xff\\xfe{}')",
    "no object": "frame(b'[1, 2]')",
    "no header": "frame(b'{}')",
    "no such channel": "frame(b'{}', channel=9)",
    "buffers missing": "frame(b'{}', buffers=255)",
    "header of another type": 'frame(b\'{"header": 1, "parent_header": 2, "content": 3}\')',
    "stream closed": "os.close(kernel.wire.fileno())",
    "stream shut": "kernel.wire._socket.shutdown(2)",
    "null over the stream": "os.dup2(os.open('/dev/null', os.O_RDWR), kernel.wire.fileno())",
    "killed": "os.kill(os.getpid(), 9)",
    "exited": "os._exit(3)",
    "crashed": "import ctypes; ctypes.string_at(0)",
}
HARMLESS = {
    "idle": "send(3, 'status', {'execution_state': 'idle'})",
    "others' replies": "send(0, 'execute_reply', {'status': 'ok'}, {'header': {'msg_id': 'x'}})",
    "marker in text": "print('\\x00\\x00\\x00\\x04\\x03\\x00{}', 'llm_sandbox_configure', '<cell 1>')",
    "kills init": "os.kill(1, 9); os.kill(1, 15); os.kill(1, 19)",
    "nothing over 1 and 2": "fd = os.open('/dev/null', os.O_RDWR)\nfor n in (0, 1, 2): os.dup2(fd, n)",
    "1 and 2 closed": "os.close(1); os.close(2)",
    "kills all others": "try: os.kill(-1, 9)\nexcept OSError: pass",
    "child outlives": "import time\nif os.fork() == 0:\n  os.setsid(); time.sleep(3); os._exit(0)",
    "child returns": "pid = os.fork()",
    "own seccomp": "import ctypes; ctypes.CDLL(None).prctl(22, 1, 0, 0, 0) if os.fork() == 0 else None",
    "undumpable": "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)",
}
PATCHED = {
    "print": "import builtins; builtins.print = None",
    "open": "import builtins; builtins.open = lambda *a, **k: 1 / 0",
    "json": "import json; json.dumps = json.loads = None",
    "os": "for name in ('write', 'read', 'close', 'fork', 'kill'): setattr(os, name, None)",
    "stdout": "import sys; sys.stdout = sys.stderr = None",
    "stdout closed": "import sys; sys.stdout.close(); sys.stderr.close()",
    "modules": "import sys\nfor name in ('json', 'os', 'guest.frames', 'guest.wire', 'traceback', 'IPython'): sys.modules.pop(name, None)",
    "all modules": "import sys; sys.modules.clear()",
    "hooks": "import sys; sys.excepthook = sys.displayhook = None; sys.settrace(lambda *a: 1 / 0)",
    "str": "import builtins; builtins.str = builtins.len = builtins.isinstance = None",
    "shell": "get_ipython().run_cell_async = None",
    "signals": "import signal; signal.signal(2, signal.SIG_DFL); signal.signal(17, signal.SIG_IGN)",
}


def run_twice(session: Any, attempt: Callable[..., Any], code: str) -> tuple[Any, Any]:
    """Run the attack and then honest cells until one works; at most two may pay for the attack."""
    first = attempt(session, code, 5)
    json.dumps(first.to_dict(), allow_nan=False)
    for _ in range(2):
        after = attempt(session, "print(6 * 7)", 5)
        if after.stdout == "42\n":
            return first, after
    return first, after


@pytest.mark.parametrize("attack", BROKEN)
def test_a_broken_conversation_is_ended(
    session: Any, attempt: Callable[..., Any], attack: str
) -> None:
    """The run is reported as crashed, killed or exited, not as a success, and the next one works."""
    result = attempt(session, SEND + BROKEN[attack], 30)
    assert result.status in ("crashed", "killed", "exited"), result
    assert result.state == "reset"
    assert result.exit_code != 0
    after = session.run("print(6 * 7)", timeout=5)
    assert (after.stdout, after.status) == ("42\n", "ok")


@pytest.mark.parametrize("attack", HARMLESS)
def test_a_harmless_forgery_changes_nothing(
    session: Any, attempt: Callable[..., Any], attack: str
) -> None:
    """What comes after the forgery in the same run is still there, and the next run works."""
    result = attempt(session, f"{SEND}{HARMLESS[attack]}\nprint('later')", 5)
    assert "later" in result.stdout
    # A process that the attack forked may print its own "later" only now.
    assert "42\n" in session.run("print(6 * 7)", timeout=5).stdout


@pytest.mark.parametrize("attack", PATCHED)
def test_a_patched_interpreter_harms_itself_only(
    session: Any, attempt: Callable[..., Any], attack: str
) -> None:
    """After any patch a fresh interpreter of the same session works, and other sessions never
    notice.
    """
    attempt(session, SEND + PATCHED[attack], 5)
    result = attempt(session, "6 * 7", 5)
    json.dumps(result.to_dict(), allow_nan=False)
    session.restart()
    assert session.run("print(6 * 7)", timeout=5).stdout == "42\n"


FORGED_REPLIES = [
    "{}",
    "{'status': 'ok', 'llm_sandbox': {'cpu_s': 10**400}}",
    "{'status': 'ok', 'llm_sandbox': {'cpu_s': float('nan'), 'peak_rss': -1}}",
    "{'status': 'ok', 'llm_sandbox': {'dropped': {'stdout': float('inf')}}}",
    "{'status': 'ok', 'llm_sandbox': {'dropped': {'stdout': -10**30}}}",
    "{'status': 'ok', 'llm_sandbox': {'dropped': {'nowhere': 1}}}",
    "{'status': 'ok', 'llm_sandbox': [1]}",
    "{'status': 'ok', 'llm_sandbox': {'exit': 10**400}}",
    "{'status': [], 'ename': {}, 'evalue': [[]], 'execution_count': 'x'}",
    "{'status': 'ok', 'execution_count': float('inf')}",
]


@pytest.mark.parametrize("reply", FORGED_REPLIES)
def test_a_forged_reply_is_a_result(session: Any, attempt: Callable[..., Any], reply: str) -> None:
    """Whatever a forged execute_reply holds, run() returns a result that is JSON, and never
    raises.
    """
    code = (
        f"{SEND}send(0, 'execute_reply', {reply})\nsend(3, 'status', {{'execution_state': 'idle'}})"
    )
    first, after = run_twice(session, attempt, code)
    assert first.dropped_bytes >= 0
    assert after.stdout == "42\n"


FORGED_MESSAGES = [
    "send(3, 'display_data', {'data': {'text/plain': 'x'}, 'metadata': {}, 'transient': {'display_id': [1]}})",
    "send(3, 'display_data', {'data': {'text/plain': 'x'}, 'metadata': 'x', 'transient': 5})",
    "send(3, 'display_data', {'data': {'image/png': 5, 'text/html': None}, 'metadata': {'llm_sandbox': 5}})",
    "send(3, 'display_data', {'data': {'image/png': 'not base64', 'text/plain': 'x'}, 'metadata': {'llm_sandbox': {'kind': 'plot'}}})",
    "send(3, 'display_data', {'data': {'application/json': float('nan')}, 'metadata': {}})",
    "send(3, 'execute_result', {'data': {'text/plain': [1]}, 'metadata': {}, 'execution_count': {}})",
    "send(3, 'update_display_data', {'data': {}, 'metadata': {}, 'transient': {'display_id': {}}})",
    "send(3, 'error', {'ename': [], 'evalue': {}, 'traceback': [None, 5], 'llm_sandbox': {'frames': [{}], 'line': 10**400}})",
    "send(3, 'error', {'ename': 'x', 'evalue': 'x', 'traceback': [], 'llm_sandbox': {'frames': 5}})",
    "send(3, 'stream', {'name': 'nowhere', 'text': 'x'})",
    "send(3, 'stream', {'name': 'stdout', 'text': '\\ud800'})",
    "send(3, 'clear_output', {'wait': []})",
    "x = 'x'\nfor _ in range(900): x = [x]\nsend(3, 'error', {'ename': x, 'evalue': x, 'traceback': [x]})",
]  # fmt: skip


@pytest.mark.parametrize("message", FORGED_MESSAGES)
def test_a_forged_message_is_a_result(
    session: Any, attempt: Callable[..., Any], message: str
) -> None:
    """Whatever a forged message holds, run() returns a result that is JSON, and never raises."""
    _, after = run_twice(session, attempt, f"{SEND}{message}")
    assert after.stdout == "42\n"


def test_frames_left_for_the_next_run_do_not_answer_it(
    session: Any, attempt: Callable[..., Any]
) -> None:
    """Garbage that arrives between two runs costs at most the next run, which says that it
    crashed.
    """
    session.run(
        SEND + "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.3), raw(os.urandom(4096)))).start()"
    )
    time.sleep(0.6)
    spoiled = attempt(session, "print('mine')", 5)
    assert spoiled.status in ("crashed", "ok")
    assert session.run("print(6 * 7)", timeout=5).stdout == "42\n"


def test_an_exception_that_cannot_be_printed_is_an_error(session: Any) -> None:
    """An exception whose text raises is reported by name, and variables are kept."""
    session.run("kept = 1")
    result = session.run(
        "class Odd(Exception):\n  def __str__(self): raise ValueError\n  __repr__ = __str__\nraise Odd"
    )
    assert result.error is not None
    assert result.error.name == "Odd"
    assert session.run("print(kept)").stdout == "1\n"


def test_asking_for_input_without_reading_it_ends(host: Callable[..., str]) -> None:
    """20,000 requests for input whose answers nobody reads do not outlast the run's timeout."""
    code = (
        SEND + "for _ in range(20_000): send(2, 'input_request', {'prompt': '', 'password': False})"
    )
    said = host(
        f"""
import os, time
from llm_sandbox import create_session
session = create_session("bubblewrap")
session.open()
started = time.monotonic()
try:
    session.run({code!r}, timeout=3)
except Exception as error:
    print(type(error).__name__)
print("quick" if time.monotonic() - started < 6 else "slow")
print(session.run("print(6 * 7)", timeout=10).stdout, flush=True)
os._exit(0)
"""
    )
    assert "quick" in said, said
    assert "42" in said


def test_a_stopped_kernel_does_not_hold_up_a_long_cell(host: Callable[..., str]) -> None:
    """A cell too long for the socket, sent to a kernel that was stopped in between, times out."""
    said = host(
        """
import os, time
from llm_sandbox import create_session
session = create_session("bubblewrap")
session.open()
session.run('''
import os, signal, time
mine = os.getpid()
if os.fork() == 0:
    os.setsid(); time.sleep(0.5); os.kill(mine, signal.SIGSTOP); os._exit(0)
''')
time.sleep(1.2)
started = time.monotonic()
try:
    session.run("#" + "x" * (5 << 20), timeout=2)
except Exception as error:
    print(type(error).__name__)
print("quick" if time.monotonic() - started < 5 else "slow")
print(session.run("print(6 * 7)", timeout=10).stdout, flush=True)
os._exit(0)
"""
    )
    assert "SandboxTimeoutError" in said, said
    assert "quick" in said
    assert "42" in said


def test_a_killed_file_service_comes_back(session: Any) -> None:
    """Files can be read after the process that reads them was killed. That takes the host: code
    inside does not see it.
    """
    session.sandbox.files.write_text("a.txt", "content")
    see = """
import os
print([open(f'/proc/{pid}/comm').read().strip() for pid in os.listdir('/proc') if pid.isdigit()])
"""
    for _ in range(3):
        assert "'kernel'" in session.run(see).stdout
        assert "'files'" not in session.run(see).stdout
        readers = [pid for pid, name in descendants(os.getpid()).items() if name == "files"]
        assert readers
        for pid in readers:
            os.kill(pid, signal.SIGKILL)
        assert session.sandbox.files.read_text("a.txt") == "content"


SEARCH_MEMORY = """
def held(word):
    found = 0
    with open('/proc/self/mem', 'rb', 0) as memory:
        for line in open('/proc/self/maps'):
            span, rights = line.split()[:2]
            if 'rw' not in rights:
                continue
            low, high = (int(end, 16) for end in span.split('-'))
            for at in range(low, high, 1 << 22):
                try:
                    memory.seek(at)
                    found += memory.read(min(1 << 22, high - at)).count(word)
                except (OSError, ValueError, OverflowError):
                    pass
    return found
print(held(bytes(code ^ 1 for code in {word!r})))
"""


def test_secrets_of_one_session_are_not_in_the_memory_of_another() -> None:
    """A kernel forked after another session got a secret does not hold it anywhere in its memory."""
    secret = "word" + "8f3a" * 6
    search = SEARCH_MEMORY.format(word=bytes(code ^ 1 for code in secret.encode()))
    with create_session("bubblewrap", env={"SECRET": secret}) as other:
        other.execute_command("true")
        control = int(other.run(search, timeout=30).stdout)
        with create_session("bubblewrap", start="warm") as later:
            found = int(later.run(search, timeout=30).stdout)
    # The search holds the word itself, once it has put it together, and copies of what it read.
    assert found < control
    assert found <= 3
