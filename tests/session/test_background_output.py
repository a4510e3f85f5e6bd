"""Output after the end of runs: stored, counted, and distinguished from later runs' output."""

import asyncio
import threading
import time

import pytest

from llm_sandbox import Limits, aio, create_session
from llm_sandbox.exceptions import NotOpenSessionError, ValidationError
from llm_sandbox.results.outputs import DisplayOutput, StreamOutput

EVENT = "import threading, time\ngo = threading.Event()\n"


@pytest.fixture
def session():
    with create_session(lang="python", backend="bubblewrap") as opened:
        yield opened


def await_records(session, wanted, patience_s=30.0):
    """Take what comes until `wanted` says that it is enough."""
    found = []
    end = time.monotonic() + patience_s
    while not wanted(found) and time.monotonic() < end:
        time.sleep(0.05)
        found += session.background_output()
    return found


def busy_until(event):
    while not event.is_set():
        pass


def facts(records):
    return [(record.run, record.stream, record.text) for record in records]


def test_an_asyncio_task_goes_on_between_runs(session):
    session.run(
        "import asyncio\n"
        "async def work():\n    await asyncio.sleep(0.2)\n    print('task')\n"
        "task = asyncio.create_task(work())\nNone"
    )

    assert [(1, "stdout", "task\n")] == facts(await_records(session, bool))


def test_a_task_of_one_run_prints_while_another_awaits(session):
    session.run(
        "import asyncio\nevent = asyncio.Event()\n"
        "async def work():\n    await event.wait()\n    print('task')\n"
        "task = asyncio.create_task(work())\nNone"
    )

    later = session.run("event.set(); await task; print('mine')")

    assert later.stdout == "mine\n"
    assert [(1, "stdout", "task\n")] == facts(session.background_output())


SLOW_FLUSH = """
import sys, threading, time
below, taken, count = sys.stderr.buffer, threading.Event(), 0
write = below.write
def slow_in_the_background(data):
    if threading.current_thread() is not threading.main_thread():
        taken.set()
        time.sleep(0.5)
    return write(data)
below.write = slow_in_the_background
while not taken.is_set():
    print('e' * 99, file=sys.stderr)
    count += 1
    time.sleep(0.0001)
print(count)
"""


def test_a_flush_in_the_background_at_the_end_of_a_run_is_of_that_run(session):
    """Text that the flushing thread has taken, and not sent yet, when the code ends."""
    result = session.run(SLOW_FLUSH)

    assert 100 * int(result.stdout) == len(result.stderr)
    assert [] == session.background_output()


def test_text_without_a_line_end_comes(session):
    session.run(EVENT + "threading.Timer(0.1, print, ['part'], {'end': ''}).start()")

    assert [(1, "stdout", "part")] == facts(await_records(session, bool))


def test_a_display_and_a_figure_of_a_thread_come(session):
    session.run(
        EVENT + "def work():\n"
        "    go.wait()\n"
        "    from IPython.display import HTML, display\n"
        "    import matplotlib.pyplot as plt\n"
        "    display(HTML('<b>bold</b>'))\n"
        "    plt.plot([1, 2]); plt.show()\n"
        "thread = threading.Thread(target=work); thread.start()"
    )

    later = session.run("go.set(); thread.join()")

    assert (later.plots, later.outputs) == ([], ())
    records = session.background_output()
    displays = [record.output for record in records if isinstance(record.output, DisplayOutput)]
    assert {1} == {record.run for record in records}
    assert ["text/html" in displays[0].data, "image/png" in displays[1].data] == [True, True]


def test_a_pools_work_belongs_to_the_run_that_handed_it_over(session):
    session.run("from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)")
    session.run("list(pool.map(print, ['first']))")

    result = session.run("_ = list(pool.map(print, ['second']))")

    assert result.stdout == "second\n"
    assert session.background_output() == []


def test_threads_of_many_runs_are_told_apart(session):
    session.run(EVENT + "threads = []")
    for number in range(2, 6):
        session.run(
            f"def work():\n    go.wait()\n    for _ in range(50): print('run {number}')\n"
            "threads.append(threading.Thread(target=work)); threads[-1].start()"
        )

    later = session.run("go.set(); [thread.join() for thread in threads]; print('mine')")

    assert later.stdout == "mine\n"
    found = {}
    for run, _, text in facts(session.background_output()):
        found[run] = found.get(run, "") + text
    assert found == {number: f"run {number}\n" * 50 for number in range(2, 6)}


def test_what_is_dropped_is_counted_exactly():
    limits = Limits(output_bytes=100_000)
    with create_session(lang="python", backend="bubblewrap", limits=limits) as session:
        session.run(
            EVENT + "def work():\n    go.wait()\n    for _ in range(5000): print('x' * 99)\n"
            "thread = threading.Thread(target=work); thread.start()"
        )
        session.run("threading.Timer(0.2, go.set).start()")

        def is_all(records):
            return 500_000 <= sum(len(each.text) + each.dropped_bytes for each in records)

        records = await_records(session, is_all)

        kept = sum(len(record.text) for record in records)
        assert 500_000 == kept + sum(record.dropped_bytes for record in records)
        assert 0 < kept <= 100_000


def test_nobody_who_reads_holds_up_no_thread(session):
    session.run(
        EVENT + "def work():\n    for _ in range(300): print('x' * 99_999)\n    go.set()\n"
        "threading.Timer(0.1, work).start()"
    )
    time.sleep(0.5)

    assert "True" == session.run("go.wait(20)").value


def test_a_process_that_outlives_its_run_is_not_mixed_into_a_later_one(session):
    session.run(
        "import subprocess, time\n"
        "child = subprocess.Popen('read x; echo late', shell=True, stdin=subprocess.PIPE)"
    )

    later = session.run("_ = child.communicate(b'\\n'); time.sleep(0.2); print('mine')")

    assert later.stdout == "mine\n"
    assert [(None, "stdout", "late\n")] == facts(session.background_output())


def test_a_slow_host_tells_processes_apart_too(session):
    """What both wrote is there before the host reads any of it."""
    session.run(
        "import subprocess, time\n"
        "child = subprocess.Popen('read x; echo late', shell=True, stdin=subprocess.PIPE)"
    )
    code = "_ = child.communicate(b'\\n'); print('mine')"

    is_over = threading.Event()
    # Each makes the thread that reads wait for its turn of the interpreter.
    others = [threading.Thread(target=busy_until, args=[is_over]) for _ in range(20)]
    for thread in others:
        thread.start()
    try:
        later = session.run(code)
    finally:
        is_over.set()
        for thread in others:
            thread.join()

    assert later.stdout == "mine\n"
    assert [(None, "stdout", "late\n")] == facts(session.background_output())


def test_nothing_is_lost_that_comes_while_the_session_is_asked(session):
    session.run("import subprocess, sys")
    session.run(
        "script = 'import time\\nfor _ in range(300): print(1, flush=True); time.sleep(0.003)'\n"
        "child = subprocess.Popen([sys.executable, '-c', script])"
    )
    told = ""

    limit = time.monotonic() + 30
    while len(told) < 600 and time.monotonic() < limit:
        told += "".join(text for _, _, text in facts(session.background_output()))

    assert told == "1\n" * 300


def test_where_both_runs_have_processes_a_note_says_so(session):
    session.run("import subprocess\nchild = subprocess.Popen(['sleep', '60'])")

    result = session.run("_ = subprocess.run(['echo', 'mine'])")
    session.run("child.kill(); _ = child.wait()")
    alone = session.run("_ = subprocess.run(['echo', 'mine'])")

    assert (result.stdout, alone.stdout) == ("mine\n", "mine\n")
    assert [1, 0] == [
        len([note for note in each.notes if "an earlier run started" in note])
        for each in (result, alone)
    ]


def test_output_stays_readable_after_close(session):
    session.run(EVENT + "threading.Timer(0.1, print, ['late']).start()")
    session.run("time.sleep(0.4)")
    session.close()

    assert [(1, "stdout", "late\n")] == facts(session.background_output())


def test_a_new_session_has_none_and_says_why():
    with pytest.raises(NotOpenSessionError):
        create_session(lang="python", backend="bubblewrap").background_output()


def test_a_callback_hears_it_in_the_time_of_a_later_run(session, caplog):
    heard = []
    session.on_background_output(heard.append)
    session.run(EVENT + "thread = threading.Thread(target=lambda: (go.wait(), print('late')))")
    session.run("thread.start()")

    session.run("go.set(); thread.join()")
    session.on_background_output(lambda record: 1 / 0)
    session.run("threading.Timer(0.1, print, ['more']).start()")
    result = session.run("time.sleep(0.3); print('mine')")

    assert [(2, "stdout", "late\n")] == facts(heard)
    assert "mine\n" == result.stdout
    assert ["late\n", "more\n"] == [text for _, _, text in facts(session.background_output())]
    assert "called no more" in caplog.text


def test_what_cannot_be_called_is_no_callback(session):
    with pytest.raises(ValidationError, match="callback"):
        session.on_background_output("print")


def test_the_awaitable_twin_returns_the_same():
    async def main():
        async with aio.create_session(lang="python", backend="bubblewrap") as session:
            await session.run(EVENT + "thread = threading.Timer(0.1, print, ['x']); thread.start()")
            await session.run("thread.join()")
            return await session.background_output()

    (record,) = asyncio.run(main())

    assert (1, StreamOutput("stdout", "x\n")) == (record.run, record.output)
    assert abs(time.time() - record.time) < 60


@pytest.mark.parametrize(
    "setting",
    [
        "import logging; logging.basicConfig(level=1)",
        "import logging; logging.getLogger().setLevel(1); logging.lastResort.setLevel(1)",
        "import warnings; warnings.simplefilter('always')",
        "import tracemalloc; tracemalloc.start(20)",
        "import gc; gc.set_debug(gc.DEBUG_UNCOLLECTABLE)",
        "import asyncio; asyncio.get_event_loop_policy().get_event_loop().set_debug(True)",
    ],
)
def test_nothing_of_the_kernels_own_is_logged(session, setting):
    session.run(setting)

    results = [
        session.run(code)
        for code in ("print(1)", "1", "import asyncio; await asyncio.sleep(0)", "x = [1]")
    ]

    assert ["1\n", "", "", ""] == [result.stdout for result in results]
    assert [""] * 4 == [result.stderr for result in results]


def test_the_codes_own_log_records_still_come(session):
    session.run("import logging; logging.basicConfig(level=logging.DEBUG)")

    assert "DEBUG:root:told\n" == session.run("logging.debug('told')").stderr
