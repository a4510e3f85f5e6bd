"""Output and exit of a process, line by line."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.adapters.zenml import (
    AlreadyCollectedError,
    LocalSandboxProcess,
    LocalSandboxSession,
    SandboxSession,
    SandboxWaitTimeoutError,
)
from llm_sandbox.exceptions import SandboxError, ValidationError
from tests.adapters.zenml.conftest import component

if TYPE_CHECKING:
    from collections.abc import Iterator

CAP = 1_048_576


@pytest.fixture(scope="module")
def session() -> Iterator[SandboxSession]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opened = component().create_session()
    with opened:
        yield opened


def python(session: SandboxSession, code: str) -> LocalSandboxProcess:
    process = session.exec([sys.executable, "-c", code])
    assert isinstance(process, LocalSandboxProcess)
    return process


def test_collect_says_what_was_written_and_how_it_ended(session: SandboxSession) -> None:
    process = python(session, "import sys; print('out'); sys.stderr.write('no end'); sys.exit(3)")
    output = process.collect()
    assert ("out\n", "no end", 3) == (output.stdout, output.stderr, output.exit_code)
    assert not output.stdout_truncated
    assert not output.stderr_truncated
    with pytest.raises(AttributeError):
        output.exit_code = 0  # type: ignore[misc]


def test_second_collect_is_refused(session: SandboxSession) -> None:
    process = session.exec("echo once")
    assert "once\n" == process.collect().stdout
    with pytest.raises(RuntimeError) as caught:
        process.collect()
    assert isinstance(caught.value, AlreadyCollectedError)
    assert isinstance(caught.value, SandboxError)


def test_much_on_one_stream_while_the_other_is_open(session: SandboxSession) -> None:
    output = python(session, "import sys; sys.stderr.write('e' * 200_000); print('end')").collect()
    assert (200_000, "end\n") == (len(output.stderr), output.stdout)


def test_cap_leaves_out_whole_lines_and_all_after_them(session: SandboxSession) -> None:
    process = python(session, "print('four'); print('a long line'); print('x')")
    output = process.collect(max_chars=7)
    # "x\n" would fit again; what comes after a gap would look as if it followed.
    assert ("four\n", True, 0) == (output.stdout, output.stdout_truncated, output.exit_code)


def test_line_that_just_fits_is_kept(session: SandboxSession) -> None:
    output = python(session, "print('1234'); print('é€67')").collect(max_chars=10)
    assert ("1234\né€67\n", False) == (output.stdout, output.stdout_truncated)


def test_one_line_over_the_cap_leaves_nothing_and_does_not_block(session: SandboxSession) -> None:
    output = python(session, f"print('x' * {2 * CAP}); import sys; sys.stderr.write('e')").collect()
    assert ("", True) == (output.stdout, output.stdout_truncated)
    assert ("e", False, 0) == (output.stderr, output.stderr_truncated, output.exit_code)


def test_what_the_sandbox_dropped_is_said(session: SandboxSession) -> None:
    """Past `Limits.output_bytes`, 10 MiB, a stream ends; that is no complete output."""
    output = python(session, "print(('x' * 4095 + '\\n') * 3000)").collect(max_chars=CAP * 100)
    assert (True, 10 << 20) == (output.stdout_truncated, len(output.stdout))


@pytest.mark.parametrize("wrong", [-1])
def test_cap_below_nothing_is_refused(session: SandboxSession, wrong: int) -> None:
    with pytest.raises(ValidationError):
        session.exec("true").collect(max_chars=wrong)


def test_streams_are_read_once(session: SandboxSession) -> None:
    process = python(session, r"print('a\nb\nc'); import sys; print('d\re', file=sys.stderr)")
    lines = process.stdout()
    assert "a\n" == next(lines)
    del lines  # stopping early takes nothing away
    assert "b\n" == next(process.stdout())
    output = process.collect()
    # A lone carriage return ends no line.
    assert ("c\n", "d\re\n") == (output.stdout, output.stderr)
    assert [] == list(process.stdout())


def test_lines_come_while_it_runs(session: SandboxSession) -> None:
    process = python(session, "import time; print('first', flush=True); time.sleep(600)")
    assert "first\n" == next(process.stdout())
    assert process.exit_code is None
    process.kill()
    assert 137 == process.wait(30)


def test_wait_times_out_as_both_kinds_of_timeout_and_kills_nothing(session: SandboxSession) -> None:
    process = session.exec(["sleep", "600"])
    with pytest.raises(TimeoutError) as caught:
        process.wait(timeout=0.05)
    assert isinstance(caught.value, subprocess.TimeoutExpired)
    assert isinstance(caught.value, SandboxError)
    assert (0.05, ["sleep", "600"]) == (caught.value.timeout, caught.value.cmd)
    assert process.exit_code is None
    process.kill()
    assert 137 == process.wait(30)
    process.kill()  # harmless after the end


def test_timeout_keeps_its_facts_as_json(session: SandboxSession) -> None:
    error = SandboxWaitTimeoutError("late", 2.5, command=["a"], output="half")
    again = SandboxError.from_dict(error.to_dict())
    assert isinstance(again, SandboxWaitTimeoutError)
    assert (2.5, "half", None) == (again.timeout, again.output, again.stderr)


def test_collect_with_a_timeout_can_be_called_again(session: SandboxSession) -> None:
    process = session.exec(["sh", "-c", "echo early; echo why >&2; read word < go; echo late"])
    session.exec("mkfifo go").wait()
    process.kill()
    process = session.exec(["sh", "-c", "echo early; echo why >&2; read word < go; echo $word"])
    end = time.monotonic() + 30
    while True:
        with pytest.raises(SandboxWaitTimeoutError) as caught:
            process.collect(timeout=0.05)
        if (caught.value.output, caught.value.stderr) == ("early\n", "why\n"):
            break
        assert time.monotonic() < end
    session.exec(["sh", "-c", "echo late > go"]).wait()
    output = process.collect(timeout=30)
    assert ("early\nlate\n", "why\n", 0) == (output.stdout, output.stderr, output.exit_code)


def test_exit_code_is_polled(session: SandboxSession) -> None:
    """Nobody has to wait for it to be there."""
    process = session.exec(["sh", "-c", "exit 7"])
    end = time.monotonic() + 30
    while process.exit_code is None and time.monotonic() < end:
        time.sleep(0.01)
    assert 7 == process.exit_code


def test_bytes_that_are_no_text_break_nothing(session: SandboxSession) -> None:
    output = session.exec(["printf", r"a\377b\n"]).collect()
    assert "a\\xffb\n" == output.stdout


def child(session: SandboxSession, code: str) -> LocalSandboxProcess:
    """A process of somebody else's making, as the constructor takes it."""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert isinstance(session, LocalSandboxSession)
    return LocalSandboxProcess(process, session, time.time())


def close(process: LocalSandboxProcess) -> None:
    for stream in (process._process.stdout, process._process.stderr):
        stream._stream.close()  # type: ignore[union-attr]


def test_child_of_this_process_is_collected(session: SandboxSession) -> None:
    process = child(session, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(4)")
    output = process.collect()
    assert ("out\n", "err\n", 4) == (output.stdout, output.stderr, output.exit_code)
    close(process)


def test_child_that_is_killed_has_the_usual_exit_code(session: SandboxSession) -> None:
    process = child(session, "import time; time.sleep(600)")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.kill()
    assert 137 == process.wait(30) == process.exit_code
    close(process)


def test_failed_reading_kills_the_process_and_is_raised_as_it_was(session: SandboxSession) -> None:
    """It would wait for ever with a full pipe that nobody reads any more."""
    code = "import os; os.write(1, b'\\xff\\n' * 200_000); import time; time.sleep(600)"
    process = child(session, code)
    with pytest.raises(UnicodeDecodeError):
        process.collect()
    assert 137 == process.exit_code
    close(process)


def test_no_thread_is_left(session: SandboxSession) -> None:
    session.exec("true").collect()
    before = threading.active_count()
    for _ in range(5):
        session.exec("echo x").collect()
    assert before >= threading.active_count()
