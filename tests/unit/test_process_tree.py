"""Members of a process tree, and the kill of all of them."""

import os
import signal
import subprocess
import sys
import time

from llm_sandbox.guest.process_tree import (
    MARKER,
    ProcessRow,
    environment_marker,
    kill_tree,
    process_table,
    process_tree,
)

NOBODY = 1 << 30


def row(pid, parent=1, group=1, session=1):
    return ProcessRow(NOBODY + pid, NOBODY + parent, NOBODY + group, NOBODY + session, 0)


def members(root, rows, **options):
    found = process_tree(NOBODY + root, "m", rows, **options)
    return {pid - NOBODY for pid in found}


def test_descent_group_and_session_make_a_family():
    rows = [row(10), row(11, parent=10), row(12, parent=11), row(13, group=10), row(14, session=10)]

    assert members(10, [*rows, row(20), row(21, parent=20)]) == {10, 11, 12, 13, 14}


def test_the_spared_and_theirs_do_not_belong():
    rows = [row(10), row(11, parent=10), row(12, parent=11)]

    assert members(10, rows, exempt=[NOBODY + 11]) == {10}


def test_orphans_belong_when_asked_for():
    rows = [row(10), row(11, parent=2), row(12, parent=3)]

    assert members(10, rows, adopter=NOBODY + 2) == {10, 11}


def test_a_root_that_is_gone_has_a_family():
    assert members(10, [row(11, parent=10)]) == {11}


def test_the_marker_finds_who_left_every_group():
    escape = (
        "import os, time\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "print(os.getpid(), flush=True); time.sleep(60)\n"
    )
    marker = f"test-{os.getpid()}"
    process = subprocess.Popen(
        [sys.executable, "-c", escape],
        env={**os.environ, MARKER: marker},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    escaped = int(process.stdout.readline())
    process.wait()
    process.stdout.close()
    assert environment_marker(escaped) == marker

    # Only what carries the marker: the root is a process that is gone.
    assert kill_tree(process.pid, marker)
    deadline = time.monotonic() + 5
    while any(r.pid == escaped for r in process_table(None)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert escaped not in {r.pid for r in process_table(None)}


def test_killing_does_not_wait_for_memory_to_be_given_back():
    program = "x = b'x' * (300 << 20); print(flush=True); import time; time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()

    assert kill_tree(process.pid, "no-such-marker")
    assert process.wait(10) == -signal.SIGKILL
    process.stdout.close()


def test_the_table_has_this_process():
    mine = next(r for r in process_table(None) if r.pid == os.getpid())

    assert (mine.parent, mine.group, mine.session) == (os.getppid(), os.getpgrp(), os.getsid(0))
