"""Targets of output: none, this process's own, files, and both streams together."""

from __future__ import annotations

import errno
import io
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Limits, Sandbox
from llm_sandbox.exceptions import LaunchError, SandboxTimeoutError, ValidationError
from tests.processes.conftest import WAIT_S, until

if TYPE_CHECKING:
    from llm_sandbox import Process

BOTH = "echo out; echo err >&2"
RAW = b"\x1b[31mred\xff\x00\r\n"
RAW_PROGRAM = r"printf '\033[31mred\377\000\r\n'"


def finished(process: Process) -> Any:
    return process.collect(timeout=WAIT_S)


def test_null_is_dropped_where_it_is_written(sandbox: Sandbox) -> None:
    """Either stream, or both as one; how long it took is told all the same."""
    looks = "import os; os.write(2, os.readlink('/proc/self/fd/1').encode()); print('out')"
    first = finished(sandbox.exec("python3", "-c", looks, stdout="null"))
    assert (first.stdout, first.stderr) == ("", "/dev/null")
    shown = finished(sandbox.sh(f"{BOTH}; readlink /proc/$$/fd/2", stderr="null"))
    assert (shown.stdout, shown.stderr) == ("out\n/dev/null\n", "")
    neither = finished(sandbox.sh(f"sleep 0.4; {BOTH}; exit 6", stdout="null", stderr="stdout"))
    assert (neither.stdout, neither.stderr, neither.exit_code) == ("", "", 6)
    assert 0.3 < neither.duration_s < WAIT_S


def test_standard_error_is_the_same_stream(sandbox: Sandbox) -> None:
    """Merged, both come in the order of writing; as two, that is unknown."""
    program = (
        "import os\n"
        "for n in range(2000): os.write(1 + n % 2, b'%d\\n' % n)\n"
        "one, other = os.fstat(1), os.fstat(2)\n"
        "os.write(1, b'%d\\n' % (one.st_ino == other.st_ino))"
    )
    merged = finished(sandbox.exec("python3", "-c", program, stderr="stdout"))
    control = finished(sandbox.exec("python3", "-c", program))

    assert merged.stdout.split() == [*map(str, range(2000)), "1"]
    assert merged.stderr == ""
    assert control.stdout.split() == [*map(str, range(0, 2000, 2)), "0"]


def test_a_path_gets_every_byte(sandbox: Sandbox, tmp_path: Path) -> None:
    """What was there before is gone; both streams can have a file; the program's end is enough."""
    out, err = tmp_path / "out", tmp_path / "err"
    out.write_bytes(b"before" * 100)
    process = sandbox.sh(f"{RAW_PROGRAM}; echo why >&2", stdout=out, stderr=str(err))
    assert process.wait(WAIT_S) == 0

    assert out.read_bytes() == process.stdout.bytes() == RAW
    assert err.read_text() == "why\n"


def test_a_file_object_gets_it_as_it_comes(sandbox: Sandbox, tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as file:
        file.write(b"mine ")
        process = sandbox.sh("echo first; read line", stdin=None, stdout=file, stderr="stdout")
        finished(process)
        running = sandbox.sh("echo second; sleep 600", stdout=file)
        assert until(lambda: (tmp_path / "log").read_bytes().endswith(b"second\n"))
        assert running.poll() is None
        running.kill()
        running.wait(WAIT_S)
        file.write(b"mine again")
    assert (tmp_path / "log").read_bytes() == b"mine first\nsecond\nmine again"
    buffer = io.BytesIO()
    finished(sandbox.sh(RAW_PROGRAM, stdout=buffer))
    assert buffer.getvalue() == RAW


def test_files_are_capped_by_the_limits(tmp_path: Path) -> None:
    limits = Limits(output_bytes=100_000)
    with Sandbox.create(backend="bubblewrap", limits=limits) as small:
        target = tmp_path / "flood"
        result = finished(small.sh("head -c 5000000 /dev/zero", stdout=target))

        assert target.stat().st_size == 100_000
        assert result.dropped_bytes == 4_900_000


def test_inherit_is_raw(sandbox: Sandbox, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Escape sequences reach this process' own output as they are, as is documented."""
    os.write(1, b"before ")
    process = sandbox.sh(f"{RAW_PROGRAM}; echo why >&2", stdout="inherit", stderr="inherit")
    assert process.wait(WAIT_S) == 0

    assert capfdbinary.readouterr() == (b"before " + RAW, b"why\n")


def test_what_cannot_be_written_is_an_error(sandbox: Sandbox) -> None:
    """A pipe whose reader is gone: the program ends as ever, and waiting for it tells."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb", buffering=0) as file:
        process = sandbox.sh("echo lost; exit 3", stdout=file)
        for wait in (process.wait, process.collect, process.wait):
            with pytest.raises(OSError, match="Broken pipe") as caught:
                wait(timeout=WAIT_S)
            assert caught.value.errno == errno.EPIPE

    assert (process.poll(), process.stdout.read()) == (3, "lost\n")


def test_a_target_that_takes_nothing_holds_up_no_program(sandbox: Sandbox) -> None:
    read, write = os.pipe()
    with os.fdopen(read, "rb") as source, os.fdopen(write, "wb") as file:
        process = sandbox.sh("head -c 3000000 /dev/zero", stdout=file)
        assert until(lambda: process.poll() == 0), "the program waits for its reader"
        with pytest.raises(SandboxTimeoutError, match="what takes its output"):
            process.wait(0.2)
        got: list[int] = []
        reader = threading.Thread(target=lambda: got.append(len(source.read(3_000_000))))
        reader.start()
        assert process.wait(WAIT_S) == 0
        reader.join(WAIT_S)
    assert got == [3_000_000]


def test_what_is_no_target_is_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    """A word that is none, text files, one file twice; nothing was started or left open."""
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 - as the kernel has it
    with (tmp_path / "text").open("w") as text:
        for target in ("devnull", "out.log", text, 1, None, b"/tmp/x"):
            with pytest.raises(ValidationError) as caught:
                sandbox.exec("true", stdout=target)  # type: ignore[arg-type]
            assert caught.value.parameter == "stdout"
    with pytest.raises(ValidationError, match=r"\./out\.log"):
        sandbox.exec("true", stdout="out.log")
    with pytest.raises(ValidationError, match="stdout"):
        sandbox.exec("true", stdout="stdout")
    path = tmp_path / "one"
    with pytest.raises(ValidationError, match="stderr='stdout'"):
        sandbox.exec("true", stdout=path, stderr=str(path))
    with pytest.raises(ValidationError, match="one output"):
        sandbox.exec("true", pty=True, stderr="null")
    with pytest.raises(FileNotFoundError):
        sandbox.exec("true", stdout=path, stderr=tmp_path / "nowhere" / "file")
    with pytest.raises(LaunchError):
        sandbox.exec("no-such-program", stdout=path, stderr="inherit")

    assert not Path("out.log").exists()
    assert until(lambda: len(os.listdir("/proc/self/fd")) <= len(before))  # noqa: PTH208
