"""Conformance suite of the ends of runs, and of output after the end."""

import os
import time

import pytest

from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import Limits
from llm_sandbox.results.outputs import BackgroundOutput, DisplayOutput, ErrorOutput, StreamOutput
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.session_fixtures import SessionFixtures

__all__ = ["SessionBackgroundSuite", "SessionEndingSuite"]


class SessionEndingSuite(SessionFixtures):
    """Timeouts, deaths, restarts and floods."""

    def test_a_timeout_interrupts_and_keeps_the_state(self, own: BaseSession) -> None:
        """Code that answers an interrupt is stopped, and its variables are kept."""
        with pytest.raises(SandboxTimeoutError) as caught:
            own.run("v = 5\nprint('shown')\nwhile True: pass", timeout=0.5)

        result = caught.value.result
        assert result is not None
        assert (result.exit_code, result.stdout) == (124, "shown\n")
        assert result.timed_out
        assert own.run("v").value == "5"

    @pytest.mark.parametrize(
        "code",
        [
            "sum(range(10**13))",
            "import signal, time\nsignal.signal(2, signal.SIG_IGN)\nwhile True: time.sleep(1)",
            "import os, signal, time\ntime.sleep(0.2)\nos.kill(os.getpid(), signal.SIGSTOP)",
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        ],
        ids=["c-loop", "signal-ignored", "stopped", "interrupt-swallowed"],
    )
    def test_a_timeout_ends_whatever_it_is(self, own: BaseSession, code: str) -> None:
        """A run ends soon after its timeout, within two seconds as a rule, and the session goes
        on.
        """
        started = time.monotonic()
        with pytest.raises(SandboxTimeoutError) as caught:
            own.run("print('kept', flush=True)\n" + code, timeout=0.5)

        assert time.monotonic() - started < 0.5 + self.stopped_within_s
        assert getattr(caught.value.result, "stdout", None) == "kept\n"
        assert own.run("print(2)").stdout == "2\n"

    def test_a_killed_run_says_that_the_state_is_reset(self, own: BaseSession) -> None:
        """The result of a killed run says that variables are gone."""
        with pytest.raises(SandboxTimeoutError) as caught:
            own.run("sum(range(10**13))", timeout=0.3)

        assert StateOutcome.RESET is getattr(caught.value.result, "state", None)

    def test_a_timeout_leaves_no_process(self, own: BaseSession) -> None:
        """Children that a stopped run started, detached ones too, are gone."""
        mark = f"76{os.getpid()}"  # where processes of other sandboxes can be seen
        code = (
            f"import subprocess\nsubprocess.Popen(['setsid', 'sleep', '{mark}1'])\n"
            f"subprocess.Popen('(sleep {mark}2 &)', shell=True)\nsum(range(10**13))"
        )
        with pytest.raises(SandboxTimeoutError):
            own.run(code, timeout=0.5)

        assert (
            own.execute_command(
                f"cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'slee[p] {mark}.' || true"
            ).stdout
            == ""
        )

    @pytest.mark.parametrize(
        ("code", "exit_code", "status"),
        [
            ("import os; os._exit(3)", 3, RunStatus.EXITED),
            ("import os; os.kill(os.getpid(), 9)", 137, RunStatus.KILLED),
            ("import ctypes; ctypes.string_at(0)", 139, RunStatus.KILLED),
            ("import os; os.abort()", 134, RunStatus.KILLED),
        ],
        ids=["exit", "kill", "segfault", "abort"],
    )
    def test_death_is_told(
        self, own: BaseSession, code: str, exit_code: int, status: RunStatus
    ) -> None:
        """A dying interpreter is reported with its cause, keeps its output, and is replaced."""
        result = own.run("print('last words', flush=True)\n" + code)

        assert (exit_code, status) == (result.exit_code, result.status)
        assert result.stdout == "last words\n"
        assert StateOutcome.RESET is result.state
        assert own.run("print(1)").stdout == "1\n"

    def test_files_outlive_the_interpreter(self, own: BaseSession) -> None:
        """A restarted interpreter finds the files of the one before."""
        own.run("open('kept.txt', 'w').write('x')")
        own.run("import os; os._exit(1)")

        assert own.sandbox.files.read_text("kept.txt") == "x"

    def test_restart_clears_variables(self, own: BaseSession) -> None:
        """`restart` gives a fresh interpreter."""
        own.run("gone = 1")
        own.restart()

        assert getattr(own.run("gone").error, "name", None) == "NameError"

    def test_a_fresh_interpreter_for_each_run(self) -> None:
        """With `persistent=False` no variable reaches the next run, but files do."""
        with self.make(persistent=False) as session:
            session.run("v = 1; open('f', 'w').write('x')")
            result = session.run("import os; print('v' in globals(), os.path.exists('f'))")

        assert result.stdout == "False True\n"

    def test_a_cold_interpreter_works(self) -> None:
        """`start='cold'` gives an interpreter of its own."""
        with self.make(start="cold") as session:
            session.run("x = 20")

            assert session.run("x + 1").value == "21"

    def test_a_million_prints(self) -> None:
        """A million lines arrive, every one, where the limit allows it."""
        limits = Limits(output_bytes=16 << 20)
        with self.make(limits=limits) as session:
            result = session.run("for i in range(1_000_000): print(i)")

        assert result.stdout.count("\n") == 1_000_000
        assert not result.stdout_truncated

    def test_a_line_of_fifty_megabytes_is_cut_and_counted(self, own: BaseSession) -> None:
        """Output over the limit is counted, and the run succeeds."""
        result = own.run("print('x' * 50_000_000)")

        assert (result.exit_code, result.stdout_truncated) == (0, True)
        assert own.config.limits.output_bytes == len(result.stdout)
        assert 50_000_001 - len(result.stdout) == result.dropped_bytes

    def test_both_streams_flood(self, own: BaseSession) -> None:
        """Floods on both streams, from children too, neither deadlock nor mix."""
        code = (
            "import subprocess, sys\n"
            "for _ in range(200): print('o' * 1000); print('e' * 1000, file=sys.stderr)\n"
            "subprocess.run('yes o | head -c 300000; yes e | head -c 300000 >&2', shell=True)"
        )
        result = own.run(code)

        assert (len(result.stdout), len(result.stderr)) == (500_200, 500_200)
        assert set(result.stdout) == {"o", "\n"}

    def test_many_displays_are_counted(self) -> None:
        """Displays over the limit are counted and left out."""
        limits = Limits(displays=5)
        with self.make(limits=limits) as session:
            result = session.run("for i in range(12): display(i)")

        assert sum(isinstance(o, DisplayOutput) for o in result.outputs) == 5
        assert result.dropped_outputs == 7

    def test_a_huge_exception_text_is_cut(self, own: BaseSession) -> None:
        """An exception with megabytes of text comes back short."""
        result = own.run("raise Exception('x' * 10_000_000)")

        assert result.error is not None
        assert len(result.error.value) < 100_000
        assert len(result.stderr) < 500_000

    def test_an_error_is_among_the_outputs(self, shared: BaseSession) -> None:
        """An exception stands in the ordered outputs as well."""
        outputs = shared.run("print(1); raise ValueError('v')").outputs

        assert [StreamOutput, ErrorOutput] == [type(o) for o in outputs]


_LATE = """
import threading

go = threading.Event()

def work():
    go.wait()
    print("late")

thread = threading.Thread(target=work)
thread.start()
"""
_PATIENCE_S = 30.0


class SessionBackgroundSuite(SessionFixtures):
    """Behaviours of background output."""

    def test_a_late_print_belongs_to_its_run(self, own: BaseSession) -> None:
        """Output of a thread during a later run belongs to the run that started it."""
        own.run("before = 1")
        own.run(_LATE)

        later = own.run("go.set(); thread.join(); print('mine')")

        assert later.stdout == "mine\n"
        assert [note for note in later.notes if "(run 2)" in note]
        assert _facts(own.background_output()) == [(2, "stdout", "late\n")]
        assert own.background_output() == []

    def test_late_output_comes_while_nothing_runs(self, own: BaseSession) -> None:
        """Output and traceback of a thread between runs can be read without another run."""
        own.run(f"{_LATE}\ndef fail():\n    thread.join()\n    1 / 0")
        own.run("threading.Thread(target=fail).start(); threading.Timer(0.2, go.set).start()")

        found = _await_text(own, "ZeroDivisionError")

        assert (1, "stdout", "late\n") in found
        errors = "".join(text for run, stream, text in found if (run, stream) == (2, "stderr"))
        assert "ZeroDivisionError: division by zero" in errors

    def test_a_child_process_that_outlives_its_run(self, own: BaseSession) -> None:
        """Output of a process between runs belongs to the only run that can have started it."""
        own.run("before = 1")
        own.run("import subprocess\nchild = subprocess.Popen(['sh', '-c', 'sleep 0.2; echo late'])")

        assert _await_text(own, "late") == [(2, "stdout", "late\n")]


def _facts(records: list[BackgroundOutput]) -> list[tuple[int | None, str | None, str]]:
    return [(record.run, record.stream, record.text) for record in records]


def _await_text(session: BaseSession, text: str) -> list[tuple[int | None, str | None, str]]:
    found: list[tuple[int | None, str | None, str]] = []
    end = time.monotonic() + _PATIENCE_S
    while not any(text in piece for _, _, piece in found) and time.monotonic() < end:
        time.sleep(0.05)
        found += _facts(session.background_output())
    return found
