"""What a session must do on every backend: the interpreter, its results, and its ends.

Subclass `SessionSuite` in a test module and give it a `backend_name`; see `backend_suite` for how
deviations are declared.
"""

import time
from collections.abc import Iterator
from typing import ClassVar

import pytest

from llm_sandbox.const import RunStatus, StateOutcome
from llm_sandbox.create import ArtifactSandboxSession
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import Limits
from llm_sandbox.outputs import ClearOutput, DisplayOutput, ErrorOutput, StreamOutput, UpdateOutput
from llm_sandbox.session.session import BaseSession

__all__ = ["SessionSuite"]


class SessionSuite:
    """Behaviours of a session. One session serves all tests that do not end it."""

    backend_name: ClassVar[str]

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls) -> Iterator[BaseSession]:
        """One session for the whole class."""
        with ArtifactSandboxSession(cls.backend_name) as session:
            yield session

    @pytest.fixture
    def own(self) -> Iterator[BaseSession]:
        """A session for one test."""
        with ArtifactSandboxSession(self.backend_name) as session:
            yield session

    # --- results

    def test_stdout_and_stderr_are_kept_apart(self, shared: BaseSession) -> None:
        """Each stream holds what was written to it and nothing else."""
        result = shared.run("import sys; print('out'); print('err', file=sys.stderr)")

        assert ("out\n", "err\n", 0) == (result.stdout, result.stderr, result.exit_code)

    def test_variables_are_kept(self, shared: BaseSession) -> None:
        """A later run sees an earlier one's variables."""
        shared.run("kept = 41")

        assert "42\n" == shared.run("print(kept + 1)").stdout

    def test_the_last_expression_is_the_value(self, shared: BaseSession) -> None:
        """The value of a final expression comes back as text."""
        assert "[1, 2]" == shared.run("[1, 2]").value

    def test_an_exception_is_a_result(self, shared: BaseSession) -> None:
        """An uncaught exception is exit code 1 with name, value and the line in the cell."""
        result = shared.run("x = 1\n\n1 / 0")

        assert (1, RunStatus.ERROR) == (result.exit_code, result.status)
        assert result.error is not None
        assert ("ZeroDivisionError", 3) == (result.error.name, result.error.line)
        assert "ZeroDivisionError: division by zero" in result.stderr

    def test_a_traceback_shows_the_users_frames_only(self, shared: BaseSession) -> None:
        """A traceback names no file of the kernel's machinery."""
        result = shared.run("def f():\n    raise KeyError('x')\nf()")

        assert "line 2, in f" in result.stderr
        for word in ("ipykernel", "IPython", "guest", "site-packages"):
            assert word not in result.stderr

    def test_a_syntax_error_is_a_result(self, shared: BaseSession) -> None:
        """Code that does not parse is exit code 1 of kind syntax with its line."""
        result = shared.run("ok = 1\nif :")

        assert result.error is not None
        assert (1, "syntax", 2) == (result.exit_code, result.error.kind, result.error.line)

    def test_output_before_an_exception_is_kept(self, shared: BaseSession) -> None:
        """What was printed before the code failed is in the result."""
        assert "before\n" == shared.run("print('before'); raise ValueError").stdout

    def test_sys_exit_is_the_exit_code(self, shared: BaseSession) -> None:
        """`sys.exit(n)` ends the run with n and keeps the variables."""
        shared.run("survivor = 1")
        result = shared.run("import sys; sys.exit(4)")

        assert (4, RunStatus.EXITED, "") == (result.exit_code, result.status, result.stderr)
        assert 0 == shared.run("survivor").exit_code

    def test_sys_exit_with_words(self, shared: BaseSession) -> None:
        """`sys.exit('words')` is exit code 1 with the words on stderr, as in a script."""
        result = shared.run("import sys; sys.exit('words')")

        assert (1, "words\n") == (result.exit_code, result.stderr)

    def test_exit_and_quit_end_the_run(self, shared: BaseSession) -> None:
        """`exit(3)` ends the run where it stands."""
        result = shared.run("exit(3)\nprint('never')")

        assert (3, "") == (result.exit_code, result.stdout)

    def test_child_process_output_is_captured(self, shared: BaseSession) -> None:
        """What a child process writes to the inherited streams is in the result."""
        result = shared.run(
            "import subprocess; subprocess.run(['sh', '-c', 'echo out; echo err >&2'])"
        )

        assert ("out\n", "err\n") == (result.stdout, result.stderr)

    def test_prints_stand_before_the_child_that_follows(self, shared: BaseSession) -> None:
        """What is printed before a child process runs comes before the child's output."""
        code = "import os\nprint('first', flush=True)\nos.system('sleep 0.1; echo second')\n"

        assert "first\nsecond\n" == shared.run(code).stdout

    def test_shell_escapes_work(self, shared: BaseSession) -> None:
        """IPython's `!command` runs in the sandbox."""
        assert "hello" in shared.run("!echo hello").stdout

    def test_invalid_utf8_is_shown_escaped(self, shared: BaseSession) -> None:
        """Bytes that are not UTF-8 neither fail the run nor vanish."""
        result = shared.run("import sys; sys.stdout.buffer.write(b'a\\xffb'); sys.stdout.flush()")

        assert ("a\\xffb", 0) == (result.stdout, result.exit_code)

    def test_a_split_character_is_whole(self, shared: BaseSession) -> None:
        """Characters that straddle buffers come out whole, however many there are."""
        result = shared.run("print('ä' * 300_001, end='')")

        assert "ä" * 300_001 == result.stdout

    def test_lone_surrogates_survive_as_escapes(self, shared: BaseSession) -> None:
        """Text that cannot be encoded is shown escaped."""
        assert "\\ud800\n" == shared.run("print(chr(0xd800))").stdout

    def test_usage_is_measured(self, shared: BaseSession) -> None:
        """A run says how long it took and what CPU time it claims."""
        usage = shared.run("sum(range(1_000_000))").usage

        assert usage.wall_s > 0
        assert usage.cpu_s is not None
        assert {"prepare", "execute"} <= set(usage.phases)

    # --- display

    def test_outputs_are_in_order(self, shared: BaseSession) -> None:
        """Streams and displays stand in the order in which they were made."""
        result = shared.run("print(1); display('two'); print(3)")

        assert [StreamOutput, DisplayOutput, StreamOutput] == [type(o) for o in result.outputs]

    def test_updates_and_clears_are_reported(self, shared: BaseSession) -> None:
        """`update_display` and `clear_output` come as outputs of their own."""
        code = (
            "from IPython.display import clear_output\n"
            "h = display('a', display_id=True); h.update('b'); clear_output()"
        )
        kinds = [type(o) for o in shared.run(code).outputs]

        assert [DisplayOutput, UpdateOutput, ClearOutput] == kinds

    def test_a_figure_comes_back(self, shared: BaseSession) -> None:
        """A figure left open at the end of a cell is one PNG with its size."""
        result = shared.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nNone")

        assert 1 == len(result.plots)
        plot = result.plots[0]
        assert plot.bytes().startswith(b"\x89PNG")
        assert plot.width is not None
        assert plot.width > 100

    def test_a_figure_of_failing_code_comes_back(self, shared: BaseSession) -> None:
        """A figure drawn before the code failed is in the result."""
        result = shared.run(
            "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nraise RuntimeError('later')"
        )

        assert (1, 1) == (result.exit_code, len(result.plots))

    def test_plotting_can_be_switched_off(self) -> None:
        """With `enable_plotting=False` the list of plots is empty."""
        with ArtifactSandboxSession(self.backend_name, enable_plotting=False) as session:
            result = session.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nNone")

        assert [] == result.plots

    # --- input and callbacks

    def test_input_is_refused_at_its_line(self, shared: BaseSession) -> None:
        """Without `stdin=` a call of `input` is an error at that line, at once."""
        result = shared.run("x = 1\ninput('name? ')")

        assert result.error is not None
        assert ("input", 2) == (result.error.kind, result.error.line)
        assert any("stdin=" in note for note in result.notes)

    def test_input_is_answered(self, shared: BaseSession) -> None:
        """`input` reads the lines of `stdin=` and then ends the file."""
        result = shared.run("print(input() + input())\ninput()", stdin="a\nb\n")

        assert "ab\n" == result.stdout
        assert result.error is not None
        assert "EOFError" == result.error.name

    def test_stdin_can_be_iterated(self, shared: BaseSession) -> None:
        """`sys.stdin` yields the lines of `stdin=`."""
        result = shared.run("import sys\nprint([l.strip() for l in sys.stdin])", stdin="a\nb\n")

        assert "['a', 'b']\n" == result.stdout

    def test_output_streams_while_the_code_runs(self, shared: BaseSession) -> None:
        """A callback hears a line before the code that printed it ends."""
        heard: list[float] = []
        started = time.monotonic()
        shared.run(
            "import time; print('now'); time.sleep(1)",
            on_stdout=lambda text: heard.append(time.monotonic() - started),
        )

        assert heard[0] < 0.8

    def test_a_failing_callback_is_raised_after_the_run(self, shared: BaseSession) -> None:
        """An exception in a callback reaches the caller, and the session stays usable."""

        def fail(text: str) -> None:
            raise LookupError(text)

        with pytest.raises(LookupError):
            shared.run("print('x'); done = True", on_stdout=fail)

        assert "True" == shared.run("done").value

    # --- async

    def test_top_level_await(self, shared: BaseSession) -> None:
        """A cell may await."""
        assert "1\n" == shared.run("import asyncio; await asyncio.sleep(0); print(1)").stdout

    def test_asyncio_run_works_as_in_a_script(self, shared: BaseSession) -> None:
        """`asyncio.run` is not refused for a loop that runs already."""
        code = "import asyncio\nasync def f(): return 7\nprint(asyncio.run(f()))"

        assert "7\n" == shared.run(code).stdout

    def test_background_tasks_go_on_between_cells(self, shared: BaseSession) -> None:
        """A task that a cell starts finishes while no cell runs."""
        shared.run(
            "import asyncio\nseen = []\n"
            "async def later():\n    await asyncio.sleep(0.05)\n    seen.append(1)\n"
            "task = asyncio.create_task(later())"
        )
        time.sleep(0.3)

        assert "[1]" == shared.run("seen").value

    # --- ends

    def test_a_timeout_interrupts_and_keeps_the_state(self, own: BaseSession) -> None:
        """Code that answers an interrupt is stopped, and its variables are kept."""
        with pytest.raises(SandboxTimeoutError) as caught:
            own.run("v = 5\nprint('shown')\nwhile True: pass", timeout=0.5)

        result = caught.value.result
        assert result is not None
        assert (124, "shown\n") == (result.exit_code, result.stdout)
        assert result.timed_out
        assert "5" == own.run("v").value

    @pytest.mark.parametrize(
        "code",
        [
            "sum(range(10**13))",
            "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
            "while True: time.sleep(1)",
            "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
            "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        ],
        ids=["c-loop", "signal-ignored", "stopped", "interrupt-swallowed"],
    )
    def test_a_timeout_ends_whatever_it_is(self, own: BaseSession, code: str) -> None:
        """A run ends within its timeout and two seconds, and the session goes on."""
        started = time.monotonic()
        with pytest.raises(SandboxTimeoutError) as caught:
            own.run("print('kept', flush=True)\n" + code, timeout=0.5)

        assert time.monotonic() - started < 2.5
        assert "kept\n" == getattr(caught.value.result, "stdout", None)
        assert "2\n" == own.run("print(2)").stdout

    def test_a_killed_run_says_that_the_state_is_reset(self, own: BaseSession) -> None:
        """When only killing helped, the result says that variables are gone."""
        with pytest.raises(SandboxTimeoutError) as caught:
            own.run("sum(range(10**13))", timeout=0.3)

        assert StateOutcome.RESET is getattr(caught.value.result, "state", None)

    def test_a_timeout_leaves_no_process(self, own: BaseSession) -> None:
        """Children that a stopped run started, detached ones too, are gone."""
        code = (
            "import subprocess\nsubprocess.Popen(['setsid', 'sleep', '7654'])\n"
            "subprocess.Popen('(sleep 7655 &)', shell=True)\nsum(range(10**13))"
        )
        with pytest.raises(SandboxTimeoutError):
            own.run(code, timeout=0.5)

        assert (
            ""
            == own.execute_command(
                "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'slee[p] 765.' || true"
            ).stdout
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
        assert "last words\n" == result.stdout
        assert StateOutcome.RESET is result.state
        assert "1\n" == own.run("print(1)").stdout

    def test_files_outlive_the_interpreter(self, own: BaseSession) -> None:
        """A restarted interpreter finds the files of the one before."""
        own.run("open('kept.txt', 'w').write('x')")
        own.run("import os; os._exit(1)")

        assert "x" == own.sandbox.files.read_text("kept.txt")

    def test_restart_clears_variables(self, own: BaseSession) -> None:
        """`restart` gives a fresh interpreter."""
        own.run("gone = 1")
        own.restart()

        assert "NameError" == getattr(own.run("gone").error, "name", None)

    def test_a_fresh_interpreter_for_each_run(self) -> None:
        """With `persistent=False` no variable reaches the next run, but files do."""
        with ArtifactSandboxSession(self.backend_name, persistent=False) as session:
            session.run("v = 1; open('f', 'w').write('x')")
            result = session.run("import os; print('v' in globals(), os.path.exists('f'))")

        assert "False True\n" == result.stdout

    def test_a_cold_interpreter_works(self) -> None:
        """`start='cold'` gives an interpreter of its own."""
        with ArtifactSandboxSession(self.backend_name, start="cold") as session:
            session.run("x = 20")

            assert "21" == session.run("x + 1").value

    # --- floods

    def test_a_million_prints(self) -> None:
        """A million lines arrive, every one, where the limit allows it."""
        limits = Limits(output_bytes=16 << 20)
        with ArtifactSandboxSession(self.backend_name, limits=limits) as session:
            result = session.run("for i in range(1_000_000): print(i)")

        assert 1_000_000 == result.stdout.count("\n")
        assert not result.stdout_truncated

    def test_a_line_of_fifty_megabytes_is_cut_and_counted(self, own: BaseSession) -> None:
        """What is over the limit is counted, and the run is fine."""
        result = own.run("print('x' * 50_000_000)")

        assert (0, True) == (result.exit_code, result.stdout_truncated)
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

        assert (500_200, 500_200) == (len(result.stdout), len(result.stderr))
        assert set(result.stdout) == {"o", "\n"}

    def test_many_displays_are_counted(self) -> None:
        """Displays over the limit are counted and left out."""
        limits = Limits(displays=5)
        with ArtifactSandboxSession(self.backend_name, limits=limits) as session:
            result = session.run("for i in range(12): display(i)")

        assert 5 == sum(isinstance(o, DisplayOutput) for o in result.outputs)
        assert 7 == result.dropped_outputs

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

    # --- environment

    def test_env_and_secrets_reach_the_code(self) -> None:
        """Variables given to a session are seen by code and by commands."""
        with ArtifactSandboxSession(
            self.backend_name, env={"A": "1"}, secrets={"TOKEN": "s3cret"}
        ) as session:
            result = session.run("import os; print(os.environ['A'], os.environ['TOKEN'])")
            command = session.execute_command("echo $A $TOKEN")

            assert "s3cret" not in repr(session.config)
        assert ("1 s3cret\n", "1 s3cret\n") == (result.stdout, command.stdout)

    def test_modules_of_the_working_directory_are_importable(self, shared: BaseSession) -> None:
        """A module written to the working directory can be imported."""
        shared.sandbox.files.write_text("helper_module.py", "VALUE = 7")

        assert "7" == shared.run("import helper_module; helper_module.VALUE").value

    def test_random_numbers_differ_between_sessions(self) -> None:
        """Forks of one interpreter do not share a random state."""
        code = "import random, numpy; print(random.random(), numpy.random.rand())"
        seen = set()
        for _ in range(2):
            with ArtifactSandboxSession(self.backend_name) as session:
                seen.update(session.run(code).stdout.split())

        assert 4 == len(seen)

    def test_commands_and_code_share_the_files(self, shared: BaseSession) -> None:
        """A file written by code is there for a command, and the other way round."""
        shared.run("open('shared.txt', 'w').write('by code')")

        assert "by code" == shared.execute_command("cat shared.txt").stdout

    def test_execute_commands_stops_at_the_first_failure(self, shared: BaseSession) -> None:
        """The first command that fails is the last that runs."""
        result = shared.execute_commands(["true", "exit 3", "touch not-reached"])

        assert 3 == result.exit_code
        assert not shared.sandbox.files.exists("not-reached")

    def test_multiprocessing_works(self, shared: BaseSession) -> None:
        """A process pool of forks works, and what they print is captured."""
        code = (
            "import multiprocessing as mp\n"
            "def f(x):\n    print('w', flush=True)\n    return x * x\n"
            "with mp.get_context('fork').Pool(2) as pool: print(pool.map(f, [1, 2, 3]))"
        )
        result = shared.run(code)

        assert "[1, 4, 9]" in result.stdout, result.stderr
        assert 3 == result.stdout.count("w\n")

    def test_threads_print(self, shared: BaseSession) -> None:
        """What threads print is captured whole."""
        code = (
            "import threading\n"
            "ts = [threading.Thread(target=lambda: [print('x' * 50) for _ in range(200)])"
            " for _ in range(4)]\n"
            "[t.start() for t in ts]; [t.join() for t in ts]; None"
        )

        assert 40_000 == shared.run(code).stdout.count("x")
