"""Observations of a run: their time, their form, and no disturbance of the run."""

import json
import time

import pytest

from llm_sandbox import create_session
from llm_sandbox.const import RunStatus
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.guest.audit_events import EVENTS, FILE_EVENTS, MAX_OBSERVATIONS, MAX_SUBJECT
from llm_sandbox.limits import Limits
from llm_sandbox.results.findings import Capability, Observation
from tests.session.observing import seen


@pytest.fixture(scope="module")
def session():
    with create_session(lang="python") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _a_new_interpreter(request):
    if "session" in request.fixturenames:
        request.getfixturevalue("session").restart()


def test_what_was_seen_before_the_process_ended_is_kept(session):
    ends = {
        "import os; os.execv('/bin/true', ['true', 'to the end'])": ("os.exec", "true to the end"),
        "import os; os.system('true'); os._exit(3)": ("os.system", "true"),
        "import os; os.kill(os.getpid(), 9)": None,
        "import ctypes; ctypes.CDLL(None).raise_; ctypes.string_at(0)": None,
    }
    for code, expected in ends.items():
        result = session.run(code)
        assert result.status is not RunStatus.OK
        assert result.observations
        assert expected is None or expected in seen(result)


def test_what_was_seen_before_the_timeout_is_kept(session):
    code = (
        "import os, signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "os.system('true')\nwhile True: pass"
    )
    with pytest.raises(SandboxTimeoutError) as caught:
        session.run(code, timeout=1)

    assert ("os.system", "true") in seen(caught.value.result)


def test_equal_observations_are_counted(session):
    result = session.run("import os\nfor _ in range(7): os.system('true')\nos.system('false')")

    assert result.observations == (
        Observation("os.system", "process.run", "true", 7),
        Observation("os.system", "process.run", "false", 1),
    )


def test_each_run_has_its_own(session):
    assert session.run("import os; os.system('true')").observations
    assert session.run("2").observations == ()


def test_threads_count_exactly(session):
    result = session.run(
        "import threading, gc\n"
        "def work():\n    for _ in range(500): gc.get_referrers()\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; None"
    )

    assert result.observations == (Observation("gc.get_referrers", "introspection", "", 4000),)


def test_a_thread_that_outlives_its_run_is_told_with_the_next(session):
    session.run(
        "import threading, time, os\n"
        "def later(): time.sleep(0.3); os.system('echo late >late')\n"
        "threading.Thread(target=later).start()"
    )
    deadline = time.monotonic() + 10
    while not session.sandbox.files.exists("late") and time.monotonic() < deadline:
        time.sleep(0.05)

    assert ("os.system", "echo late >late") in seen(session.run("1"))


def test_a_task_that_outlives_its_run_is_told_with_the_next(session):
    session.run(
        "import asyncio, os\n"
        "async def later():\n    await asyncio.sleep(0.2); os.system('echo late >late2')\n"
        "task = asyncio.ensure_future(later())"
    )
    deadline = time.monotonic() + 10
    while not session.sandbox.files.exists("late2") and time.monotonic() < deadline:
        time.sleep(0.05)

    assert ("os.system", "echo late >late2") in seen(session.run("1"))


def test_a_forked_child_tells_nothing_and_breaks_nothing(session):
    result = session.run(
        "import os\npid = os.fork()\n"
        "if pid == 0:\n    os.system('echo child'); os._exit(0)\n"
        "os.waitpid(pid, 0); print('parent')"
    )

    assert result.stdout.split() == ["child", "parent"]
    assert result.observations == (Observation("os.fork", "process.fork", "", 1),)


def test_the_number_and_the_length_are_bounded(session):
    result = session.run("import os\nfor n in range(300): os.system(f': {n} ' + 'x' * 10_000)")

    assert len(result.observations) == MAX_OBSERVATIONS
    assert {len(o.subject) for o in result.observations} == {MAX_SUBJECT}


def test_text_that_cannot_be_encoded_is_escaped(session):
    result = session.run("import os\ntry: os.remove('/tmp/\\udc80')\nexcept Exception: 0")

    assert result.observations == (Observation("os.remove", "file.delete", "/tmp/\\udc80", 1),)
    result.to_json().encode()


def test_arguments_that_fight_back_hinder_nothing(session):
    result = session.run(
        "import subprocess\n"
        "class Word(str):\n"
        "    def __str__(self): raise SystemExit(9)\n"
        "    __repr__ = __str__\n"
        "class Words(list):\n"
        "    def __getitem__(self, key): raise SystemExit(9)\n"
        "knot = []\nknot.append(knot)\n"
        "print(subprocess.run(Words([Word('echo'), 'ok']), capture_output=True).stdout)\n"
        "try: subprocess.run(knot * 40)\nexcept TypeError: print('as ever')"
    )

    assert result.stdout == "b'ok\\n'\nas ever\n"
    assert ("subprocess.Popen", "echo ok") in seen(result)


def test_events_of_other_makers_are_never_forbidden(session):
    result = session.run(
        "import sys\n"
        "for event in ('open', 'os.system', 'socket.connect', 'os.remove', 'pickle.find_class'):\n"
        "    for args in ((), (1,), (None, None, None), ('a', 'b', 'c'), (1, 2, 3, 4)):\n"
        "        sys.audit(event, *args)\n"
        "print('done')"
    )

    assert (result.stdout, result.stderr) == ("done\n", "")


def test_what_a_signal_handler_raises_reaches_the_code(session):
    result = session.run(
        "import signal, os, time\n"
        "class Up(Exception): pass\n"
        "def up(*_): raise Up\n"
        "signal.signal(signal.SIGALRM, up)\n"
        "caught = 0\n"
        "for _ in range(200):\n"
        "    end = time.monotonic() + 5\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0.001)\n"
        "        while time.monotonic() < end:\n"
        "            os.access('/tmp', 0); open('/proc/self/stat').close()\n"
        "    except Up: caught += 1\n"
        "    finally: signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "print(caught)"
    )

    assert result.stdout == "200\n", result.stderr


def test_a_cold_start_observes(tmp_path):
    with create_session(lang="python", start="cold") as opened:
        assert seen(opened.run("import os; os.system('true')")) == {("os.system", "true")}
        assert opened.run("import matplotlib.pyplot as plt; plt.plot([1])").observations == ()


def test_runs_that_share_nothing_observe():
    with create_session(lang="python", persistent=False) as opened:
        for word in ("one", "two"):
            result = opened.run(f"import os; os.system('true {word}')")
            assert seen(result) == {("os.system", f"true {word}")}


# --- the result


def test_observations_are_claimed_and_survive_json(session):
    result = session.run("import os; os.system('true'); open('/tmp/x', 'w').close()")
    again = ExecutionResult.from_json(json.dumps(json.loads(result.to_json())))

    assert "observations" in result.trust["claimed"]
    assert len(result.observations) == 2
    assert again.observations == result.observations


def test_the_words_are_the_scanners():
    capabilities = {entry[0] for table in (EVENTS, FILE_EVENTS) for entry in table.values()}
    assert capabilities <= {capability.value for capability in Capability}


def test_output_limits_do_not_hide_observations():
    with create_session(lang="python", limits=Limits(output_bytes=0, displays=0)) as opened:
        assert seen(opened.run("import os; os.system('true')")) == {("os.system", "true")}
