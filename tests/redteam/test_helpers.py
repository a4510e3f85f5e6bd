"""The processes that serve the host beside a program: it cannot stop them, kill them or look into
them, and one that does not answer for another reason holds no run up.
"""

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
    from collections.abc import Callable, Iterator

LATE_S = 6.0
"""More than the two seconds that are promised, on a busy machine, and less than any helper's own
patience."""

ATTACK = """
import json, os, signal, subprocess, time
own = subprocess.Popen(['sleep', '60'])
open('left.txt', 'w').write('left')
stopped, read = [], []
# By what is seen, and by numbers, for what might be there and not be seen.
seen = {int(name) for name in os.listdir('/proc') if name.isdigit()}
own_threads = {int(name) for name in os.listdir('/proc/self/task')}
for pid in sorted((seen | set(range(2, 400))) - own_threads):
    try:
        os.kill(pid, signal.SIGNUMBER)
        stopped.append(pid)
    except OSError:
        pass
    if pid != own.pid:
        try:
            read.append([pid, os.readlink(f'/proc/{pid}/fd/0')])
        except OSError:
            pass
time.sleep(0.2)
state = open(f'/proc/{own.pid}/stat').read().rpartition(')')[2].split()[0]
print(json.dumps({'own': own.pid, 'stopped': stopped, 'read': read, 'state': state}), flush=True)
"""


@pytest.fixture(
    params=[
        "bubblewrap",
        pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
        pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
    ]
)
def walled(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session of a backend that isolates."""
    with create_session(request.param) as session:
        yield session


@pytest.mark.parametrize("number", ["SIGSTOP", "SIGKILL"])
def test_helpers_are_out_of_reach(walled: Any, attempt: Callable[..., Any], number: str) -> None:
    """A program's signals reach its own child (the control) and nobody else; the result comes in
    time, with the files.
    """
    walled.run("print(1)")
    code = ATTACK.replace("SIGNUMBER", number)
    started = time.monotonic()
    result = attempt(walled, code + "time.sleep(60)", 2)
    taken = time.monotonic() - started
    said = json.loads(result.stdout)
    assert said["state"] == ("T" if number == "SIGSTOP" else "Z"), "the attack does not work at all"
    # The machine's first process takes a signal, and the kernel lets it have no effect.
    assert set(said["stopped"]) - {1} == {said["own"]}
    assert said["read"] == []
    assert result.timed_out
    assert taken < 2 + LATE_S
    assert result.artifact("left.txt").read_text() == "left"
    assert not any("file service" in note for note in result.notes)


def test_files_are_read_while_a_program_stops_what_it_can(
    walled: Any, attempt: Callable[..., Any]
) -> None:
    """A file is read at once after the attack, and while a thread goes on with it."""
    code = ATTACK.replace("SIGNUMBER", "SIGSTOP")
    again = code.replace("\n", "\n        ")
    result = attempt(
        walled,
        f"import threading\ndef attack():\n    while True:\n        pass\n        {again}\n"
        f"        time.sleep(0.1); own.kill(); own.wait()\n{code}\n"
        "threading.Thread(target=attack, daemon=True).start()",
        10,
    )
    assert result.error is None, result.stderr
    for _ in range(5):
        started = time.monotonic()
        assert walled.sandbox.files.read_bytes("left.txt") == b"left"
        assert time.monotonic() - started < LATE_S


@pytest.fixture(params=["bubblewrap", "local"])
def reachable(request: pytest.FixtureRequest, recwarn: pytest.WarningsRecorder) -> Iterator[Any]:
    """A session whose helpers this test finds among its own descendants."""
    with create_session(request.param) as session:
        session.run("print(1)")
        yield session


def helpers() -> list[int]:
    return [pid for pid, name in descendants(os.getpid()).items() if name == "files"]


def test_a_helper_that_is_stopped_holds_no_run_up(
    reachable: Any, attempt: Callable[..., Any]
) -> None:
    """As root of the host could, or the program itself on the local backend: the deadline holds, a
    note says what is missing, and the next run is whole again.
    """
    stopped = helpers()
    assert stopped
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        started = time.monotonic()
        result = attempt(reachable, "open('f', 'w').write('x'); import time; time.sleep(60)", 2)
        taken = time.monotonic() - started
        assert result.timed_out
        assert taken < 2 + LATE_S
        assert any("file service did not answer" in note for note in result.notes)
        after = reachable.run("open('g', 'w').write('y')", timeout=30)
        assert after.artifact("g").read_text() == "y"
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


def test_a_helper_that_was_killed_hides_nothing(session: Any) -> None:
    """Whoever looks at the files is killed during the run: they are found by their times."""
    session.run("open('old.txt', 'w').write('old')")
    time.sleep(0.1)

    def kill(output: object) -> None:
        for pid in helpers():
            os.kill(pid, signal.SIGKILL)

    result = session.run(
        "import time; open('before.txt', 'w').write('x')\nprint('now', flush=True)\n"
        "time.sleep(0.5); open('after.txt', 'w').write('y')",
        on_output=kill,
    )
    assert {item.paths[0] for item in result.files} == {"before.txt", "after.txt"}
    assert any("ended during the run" in note for note in result.notes), "nothing was killed"
    later = session.run("open('old.txt', 'a').write('more')")
    assert {item.paths[0]: item.change for item in later.files} == {"old.txt": "changed"}
    assert not later.notes
