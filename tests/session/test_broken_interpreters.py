"""Damage of code to its own interpreter: the next run works, or the result says what was lost."""

import pytest

from llm_sandbox import RunStatus, create_session
from llm_sandbox.const import StateOutcome

OK, ERROR = RunStatus.OK, RunStatus.ERROR
ACTS = [
    ("import sys; sys.stdout.close(); print('after')", ERROR),
    ("import sys; sys.stderr.close(); print('x', file=sys.stderr)", ERROR),
    ("import sys; sys.stdin.close()", OK),
    ("import sys; sys.stdout.close(); sys.stderr.close(); 1/0", ERROR),
    ("import sys; sys.stdout.detach(); print('x')", ERROR),
    ("import sys; del sys.stdout; print('x')", ERROR),
    ("import sys; del sys.stderr; 1/0", ERROR),
    ("import sys; del sys.stdin", OK),
    ("import sys; sys.stderr = None; 1/0", ERROR),
    ("import sys; sys.stdin = None", OK),
    ("import sys; sys.stderr = 5; 1/0", ERROR),
    ("import sys; sys.stdout = sys.__stdout__; print('x')", OK),
    ("import sys; del sys.__stdout__, sys.__stderr__", OK),
    ("import io, sys; sys.stdout = io.TextIOWrapper(sys.stdout.detach(), 'utf-8')", OK),
    ("import os; os.close(0)", OK),
    ("import os; os.close(1)", OK),
    ("import os; os.close(2)", OK),
    ("import os; [os.close(number) for number in range(3)]; 1/0", ERROR),
    ("import os; os.dup2(os.open('/dev/null', os.O_RDWR), 0)", OK),
    ("import os; os.dup2(os.open('/dev/null', os.O_RDWR), 1)", OK),
    ("import os; os.dup2(os.open('/dev/null', os.O_RDWR), 2); 1/0", ERROR),
    ("import builtins; del builtins.print", OK),
    ("import builtins; del builtins.print; print(1)", ERROR),
    ("import builtins; builtins.len = None", OK),
    ("import builtins; builtins.isinstance = None", OK),
    ("import builtins; builtins.str = None", OK),
    ("import builtins; builtins.Exception = None", OK),
    ("import builtins; builtins.__import__ = None; import json", ERROR),
    ("import builtins; builtins.open = None", OK),
    ("import sys; sys.modules.clear()", OK),
    ("import sys; sys.settrace(lambda *_: None)", OK),
    ("import sys; sys.settrace(lambda *_: 1/0)", ERROR),
    ("import sys; sys.setprofile(lambda *_: None)", OK),
    ("import sys; sys.setprofile(lambda *_: 1/0)", ERROR),
    ("import gc; gc.freeze(); gc.disable()", OK),
    ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)", OK),
    ("import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)", OK),
    ("import signal; signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())", OK),
    ("import sys; sys.setrecursionlimit(50)", OK),
    ("import os; os.mkdir('d'); os.chdir('d'); os.rmdir('../d')", OK),
    ("import os; os.environ.clear()", OK),
    ("import locale; locale.setlocale(locale.LC_ALL, 'C')", OK),
    ("import warnings; warnings.simplefilter('error')", OK),
    ("import threading; threading.excepthook = None", OK),
    ("import sys; sys.excepthook = None; 1/0", ERROR),
    ("import sys; sys.displayhook = None; 1", ERROR),
    ("import sys; sys.path.clear(); sys.meta_path.clear(); sys.path_hooks.clear()", OK),
    ("import os; os.write = os.read = None", OK),
    ("import time; time.time = time.monotonic = None", OK),
    ("import threading; threading.Thread = None", OK),
    ("import socket; socket.socket = None", OK),
    ("import asyncio; asyncio.set_event_loop(None)", OK),
    ("import asyncio; asyncio.get_event_loop().close()", OK),
    ("import logging; logging.disable(); logging.shutdown()", OK),
    ("import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (10, 10))", OK),
]
FATAL = [
    ("import os; os.closerange(3, 256)", "the interpreter failed: OSError"),
    ("import os; os.abort()", ""),
]


@pytest.fixture
def session():
    with create_session(lang="python", backend="bubblewrap") as opened:
        opened.run("kept = 41")
        yield opened


@pytest.mark.parametrize(("act", "status"), ACTS, ids=[act for act, _ in ACTS])
def test_variables_and_output_survive(session, act, status):
    result = session.run(act, timeout=20)
    after = session.run("print(kept + 1)", timeout=20)

    assert (status, StateOutcome.KEPT) == (result.status, result.state), result.stderr
    assert ("42\n", "") == (after.stdout, after.stderr)


@pytest.mark.parametrize(("act", "words"), FATAL, ids=[act for act, _ in FATAL])
def test_what_ends_the_interpreter_is_no_exit(session, act, words):
    result = session.run(act, timeout=20)

    assert (RunStatus.KILLED, StateOutcome.RESET) == (result.status, result.state)
    assert words in result.stderr
    assert "42\n" == session.run("print(42)").stdout


def test_an_error_on_a_closed_stream_is_at_the_users_line(session):
    result = session.run("import sys\nsys.stdout.close()\nprint('after')")

    assert ("ValueError", 3) == (result.error.name, result.error.line)


def test_a_reset_namespace_is_what_was_asked_for(session):
    assert OK == session.run("get_ipython().reset()").status

    assert "NameError" == session.run("kept").error.name


def test_streams_that_the_code_replaces_stay_replaced(session):
    session.run("import io, sys; taken = sys.stdout = io.StringIO()")
    session.run("print('into it')")
    result = session.run("sys.stdout = sys.__stdout__; print(taken.getvalue())")

    assert "into it\n\n" == result.stdout


def test_a_replaced_built_in_stays_for_the_code(session):
    session.run("import builtins; own = print; builtins.print = lambda *a: own('told', *a)")

    assert "told 1\n" == session.run("print(1)").stdout
    assert "NoneType" in session.run("len = None; type(len).__name__").value
    assert "1\n" in session.run("del builtins.print; 1; own(1)").stdout
