"""Conformance suite of results."""

import time

import pytest

from llm_sandbox.const import RunStatus
from llm_sandbox.results.outputs import ClearOutput, DisplayOutput, StreamOutput, UpdateOutput
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.session_fixtures import SessionFixtures

__all__ = ["SessionResultSuite"]


class SessionResultSuite(SessionFixtures):
    """Behaviours of results, displays, input and callbacks."""

    def test_stdout_and_stderr_are_kept_apart(self, shared: BaseSession) -> None:
        """Each stream holds what was written to it and nothing else."""
        result = shared.run("import sys; print('out'); print('err', file=sys.stderr)")

        assert (result.stdout, result.stderr, result.exit_code) == ("out\n", "err\n", 0)

    def test_variables_are_kept(self, shared: BaseSession) -> None:
        """A later run sees an earlier one's variables."""
        shared.run("kept = 41")

        assert shared.run("print(kept + 1)").stdout == "42\n"

    def test_the_last_expression_is_the_value(self, shared: BaseSession) -> None:
        """The value of a final expression comes back as text."""
        assert shared.run("[1, 2]").value == "[1, 2]"

    def test_the_last_value_has_a_name(self, own: BaseSession) -> None:
        """`_` is the last value, in an interpreter that was warmed up before it was forked, too."""
        own.run("6 * 7")

        assert own.run("_ + 1").value == "43"

    def test_an_exception_is_a_result(self, shared: BaseSession) -> None:
        """An uncaught exception is exit code 1 with name, value and the line in the cell."""
        result = shared.run("x = 1\n\n1 / 0")

        assert (result.exit_code, result.status) == (1, RunStatus.ERROR)
        assert result.error is not None
        assert (result.error.name, result.error.line) == ("ZeroDivisionError", 3)
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
        assert (result.exit_code, result.error.kind, result.error.line) == (1, "syntax", 2)

    def test_output_before_an_exception_is_kept(self, shared: BaseSession) -> None:
        """Output printed before the code failed is in the result."""
        assert shared.run("print('before'); raise ValueError").stdout == "before\n"

    def test_sys_exit_is_the_exit_code(self, shared: BaseSession) -> None:
        """`sys.exit(n)` ends the run with n and keeps the variables."""
        shared.run("survivor = 1")
        result = shared.run("import sys; sys.exit(4)")

        assert (result.exit_code, result.status, result.stderr) == (4, RunStatus.EXITED, "")
        assert shared.run("survivor").exit_code == 0

    def test_sys_exit_with_words(self, shared: BaseSession) -> None:
        """`sys.exit('words')` is exit code 1 with the words on stderr, as in a script."""
        result = shared.run("import sys; sys.exit('words')")

        assert (result.exit_code, result.stderr) == (1, "words\n")

    def test_exit_and_quit_end_the_run(self, shared: BaseSession) -> None:
        """`exit(3)` ends the run where it stands."""
        result = shared.run("exit(3)\nprint('never')")

        assert (result.exit_code, result.stdout) == (3, "")

    def test_child_process_output_is_captured(self, shared: BaseSession) -> None:
        """Output of a child process on the inherited streams is in the result."""
        result = shared.run(
            "import subprocess; subprocess.run(['sh', '-c', 'echo out; echo err >&2'])"
        )

        assert (result.stdout, result.stderr) == ("out\n", "err\n")

    def test_prints_stand_before_the_child_that_follows(self, shared: BaseSession) -> None:
        """Output printed before a child process runs precedes that of the child."""
        code = "import os\nprint('first', flush=True)\nos.system('sleep 0.1; echo second')\n"

        assert shared.run(code).stdout == "first\nsecond\n"

    def test_shell_escapes_work(self, shared: BaseSession) -> None:
        """IPython's `!command` runs in the sandbox."""
        assert "hello" in shared.run("!echo hello").stdout

    def test_invalid_utf8_is_shown_escaped(self, shared: BaseSession) -> None:
        """Bytes that are not UTF-8 neither fail the run nor vanish."""
        result = shared.run("import sys; sys.stdout.buffer.write(b'a\\xffb'); sys.stdout.flush()")

        assert (result.stdout, result.exit_code) == ("a\\xffb", 0)

    def test_a_split_character_is_whole(self, shared: BaseSession) -> None:
        """Characters that straddle buffers come out whole, however many there are."""
        result = shared.run("print('ä' * 300_001, end='')")

        assert result.stdout == "ä" * 300_001

    def test_lone_surrogates_survive_as_escapes(self, shared: BaseSession) -> None:
        """Text that cannot be encoded is shown escaped."""
        assert shared.run("print(chr(0xd800))").stdout == "\\ud800\n"

    def test_usage_is_measured(self, shared: BaseSession) -> None:
        """A run says how long it took and what CPU time it claims."""
        usage = shared.run("sum(range(1_000_000))").usage

        assert usage.wall_s > 0
        assert usage.cpu_s is not None
        assert {"prepare", "execute"} <= set(usage.phases)

    def test_a_program_that_is_started_is_observed(self, shared: BaseSession) -> None:
        """Actions relevant to a scanner are observed when they happen, and ordinary code is not."""
        code = (
            "open('word', 'w').write('sys' + 'tem')\ngetattr(__import__('os'), open('word').read())"
        )
        observed = shared.run(f"{code}('true')").observations

        assert [(item.capability, item.subject) for item in observed] == [("process.run", "true")]
        assert shared.run("print(open('word').read())").observations == ()

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

        assert len(result.plots) == 1
        plot = result.plots[0]
        assert plot.bytes().startswith(b"\x89PNG")
        assert plot.width is not None
        assert plot.width > 100

    def test_a_figure_of_failing_code_comes_back(self, shared: BaseSession) -> None:
        """A figure drawn before the code failed is in the result."""
        result = shared.run(
            "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nraise RuntimeError('later')"
        )

        assert (result.exit_code, len(result.plots)) == (1, 1)

    def test_plotting_can_be_switched_off(self) -> None:
        """With `enable_plotting=False` the list of plots is empty."""
        with self.make(enable_plotting=False) as session:
            result = session.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nNone")

        assert result.plots == []

    def test_input_is_refused_at_its_line(self, shared: BaseSession) -> None:
        """Without `stdin=` a call of `input` is an error at that line, at once."""
        result = shared.run("x = 1\ninput('name? ')")

        assert result.error is not None
        assert (result.error.kind, result.error.line) == ("input", 2)
        assert any("stdin=" in note for note in result.notes)

    def test_input_is_answered(self, shared: BaseSession) -> None:
        """`input` reads the lines of `stdin=` and then ends the file."""
        result = shared.run("print(input() + input())\ninput()", stdin="a\nb\n")

        assert result.stdout == "ab\n"
        assert result.error is not None
        assert result.error.name == "EOFError"

    def test_stdin_can_be_iterated(self, shared: BaseSession) -> None:
        """`sys.stdin` yields the lines of `stdin=`."""
        result = shared.run("import sys\nprint([l.strip() for l in sys.stdin])", stdin="a\nb\n")

        assert result.stdout == "['a', 'b']\n"

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

        assert shared.run("done").value == "True"
