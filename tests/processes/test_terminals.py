"""Terminals: what a program sees of one, what keys do, how it ends."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import PIPE, Limits, Process, Sandbox, Terminal
from llm_sandbox.exceptions import LaunchError, SandboxTimeoutError, ValidationError
from tests.processes.conftest import WAIT_S, shown, until

if TYPE_CHECKING:
    from pathlib import Path

FACTS = """
import os
def has_tty():
    try:
        return os.isatty(os.open("/dev/tty", os.O_RDWR))
    except OSError:
        return False
print([os.isatty(fd) for fd in (0, 1, 2)], has_tty(), os.getsid(0) == os.getpid())
"""
SIZES = """
import os, signal
def heard(*_):
    os.write(1, b"heard %d %d\\n" % os.get_terminal_size())
signal.signal(signal.SIGWINCH, heard)
os.write(1, b"ready %d %d\\n" % os.get_terminal_size())
while True:
    signal.pause()
"""
CARRIERS = "grep -lx terminal /proc/[0-9]*/comm"


def finished(process: Process) -> Any:
    return process.collect(timeout=WAIT_S)


def typed(process: Process, keys: str) -> None:
    assert process.stdin is not None
    process.stdin.write(keys)


# --- what it is


def test_a_program_has_a_terminal_of_its_own(sandbox: Sandbox) -> None:
    """Standard streams, /dev/tty and a name; without `pty` none of it."""
    result = finished(sandbox.exec("python3", "-c", FACTS, pty=True))
    control = finished(sandbox.exec("python3", "-c", FACTS))

    assert result.stdout == "[True, True, True] True True\r\n"
    assert control.stdout == "[False, False, False] False True\n"
    facts = finished(sandbox.sh("tty; echo $TERM; stty size", pty=Terminal(40, 111, "vt100")))
    name, *rest = facts.stdout.splitlines()
    assert name.startswith("/dev/pts/")
    assert rest == ["vt100", "40 111"]
    assert finished(sandbox.sh("echo $TERM", pty=True)).stdout == "xterm-256color\r\n"
    assert finished(sandbox.sh("echo $TERM", pty=True, env={"TERM": "dumb"})).stdout == "dumb\r\n"


def test_both_streams_are_shown_in_order(sandbox: Sandbox) -> None:
    process = sandbox.sh("for n in 1 2 3; do echo out $n; echo err $n >&2; done; exit 3", pty=True)
    result = finished(process)

    assert result.stdout.splitlines() == [
        f"{name} {n}" for n in (1, 2, 3) for name in ("out", "err")
    ]
    assert (result.stderr, result.exit_code) == ("", 3)


# --- keys


def test_a_shell_is_used_as_by_a_person(sandbox: Sandbox) -> None:
    """What is typed is echoed and done; Ctrl-C interrupts what runs, and Ctrl-D ends the shell."""
    shell = sandbox.exec("sh", "-i", pty=True, stdin=PIPE)
    # It says so itself: what a shell runs has the terminal a moment after it was started, and a key
    # that comes before is the shell's.
    typed(shell, "sh -c 'echo $((6 * 7)); exec sleep 600'\n")
    shown(shell, "42\r\n")
    typed(shell, "\x03")
    assert until(lambda: "^C" in _so_far(shell))
    typed(shell, "echo again: $?\n")
    shown(shell, "again: 130")
    typed(shell, "\x04")

    assert shell.wait(WAIT_S) == 0


def _so_far(process: Process) -> str:
    with pytest.raises(SandboxTimeoutError) as caught:
        process.collect(timeout=0.05)
    partial: Any = caught.value.result
    return str(partial.stdout)


def test_an_interrupted_program_ended_by_a_signal(sandbox: Sandbox) -> None:
    process = sandbox.sh("echo ready; exec sleep 600", pty=True, stdin=PIPE)
    shown(process, "ready")
    typed(process, "\x03")

    result = finished(process)
    assert (result.exit_code, result.signal) == (130, signal.SIGINT)


def test_the_end_of_input_is_typed(sandbox: Sandbox) -> None:
    """At the end of what was given, in the middle of a line too, again and again, and where
    nothing was given at once; the program that waits for a key gets it as one.
    """
    assert finished(sandbox.exec("cat", pty=True, stdin="a\nb")).stdout == "a\r\nba\r\nb"
    nothing = finished(sandbox.sh("cat; cat; cat; echo done", pty=True))
    assert nothing.stdout == "done\r\n"
    raw = (
        "import sys, time, tty\n"
        "time.sleep(0.3); tty.setraw(0)\n"
        "while sys.stdin.buffer.raw.read(1) != b'\\x04': pass\n"
        "print('heard')"
    )
    assert "heard" in finished(sandbox.exec("python3", "-c", raw, pty=True)).stdout


def test_input_of_any_size_arrives(sandbox: Sandbox) -> None:
    """More than a terminal holds waits until the program reads."""
    text = "".join(f"line {n}\n" for n in range(20_000))
    program = "stty -echo; echo ready; sleep 0.3; cksum"
    process = sandbox.sh(program, pty=True, stdin=PIPE)
    shown(process, "ready")
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.write_eof()
    control = finished(sandbox.exec("cksum", stdin=text))

    assert finished(process).stdout.splitlines()[-1] == control.stdout.rstrip("\n")


# --- its size


def test_a_program_hears_of_a_new_size(sandbox: Sandbox) -> None:
    process = sandbox.exec("python3", "-c", SIZES, pty=Terminal(30, 90))
    shown(process, "ready 90 30")
    assert process.resize(50, 132)
    shown(process, "heard 132 50")
    process.kill()
    process.wait(WAIT_S)

    assert not process.resize(10, 10)


def test_a_size_that_none_can_have_is_refused(sandbox: Sandbox) -> None:
    plain = sandbox.exec("sleep", "600")
    with pytest.raises(ValidationError, match="pty=True"):
        plain.resize(10, 10)
    plain.kill()
    for rows, cols in ((0, 80), (24, 65536), (24.0, 80), (True, 80)):
        with pytest.raises(ValidationError):
            Terminal(rows, cols)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="term"):
        Terminal(term="")
    with pytest.raises(ValidationError, match="pty"):
        sandbox.exec("true", pty="yes")  # type: ignore[arg-type]


# --- how it ends


def test_endings_are_those_of_any_program(sandbox: Sandbox) -> None:
    """An exit code, a kill, a deadline that takes the tree along, a program that is not there."""
    killed = sandbox.sh("echo up; sleep 600", pty=True)
    shown(killed, "up")
    assert killed.kill()
    assert finished(killed).exit_code == 137
    late = finished(sandbox.sh("setsid sleep 611 & echo up; sleep 600", pty=True, timeout=0.7))
    assert (late.exit_code, late.timed_out, late.stdout) == (124, True, "up\r\n")
    assert finished(sandbox.sh("grep -l '[6]11' /proc/[0-9]*/cmdline")).stdout == ""
    with pytest.raises(LaunchError):
        sandbox.exec("no-such-program", pty=True)
    with pytest.raises(LaunchError):
        sandbox.exec("true", cwd="/nowhere", pty=True)

    assert until(lambda: not finished(sandbox.sh(CARRIERS)).stdout), "carriers are left"


def test_last_words_are_not_lost(sandbox: Sandbox) -> None:
    """All of a program that ends right after it has written is there."""
    for _ in range(5):
        result = finished(sandbox.exec("python3", "-c", "print('x' * 300_000)", pty=True))
        assert len(result.stdout) == 300_002


def test_a_program_that_closes_its_terminal_goes_on(sandbox: Sandbox) -> None:
    """It is not hung up on, and what it says by /dev/tty later is shown."""
    program = "echo one; exec <&- >&- 2>&-; sleep 0.3; (echo two) > /dev/tty; sleep 0.2; exit 7"
    result = finished(sandbox.sh(program, pty=True))

    assert (result.stdout, result.exit_code) == ("one\r\ntwo\r\n", 7)


def test_what_is_left_behind_does_not_hold_up_the_end(sandbox: Sandbox) -> None:
    program = "(trap '' HUP; exec setsid sleep 600) & echo left; exit 5"
    result = finished(sandbox.sh(program, pty=True))

    assert (result.stdout, result.exit_code) == ("left\r\n", 5)
    assert until(lambda: not finished(sandbox.sh(CARRIERS)).stdout), "carriers are left"


def test_output_is_capped(tmp_path: Path) -> None:
    """A flood ends, counted, in the memory that the limits give it."""
    limits = Limits(output_bytes=100_000)
    with Sandbox.create(backend="bubblewrap", limits=limits) as small:
        target = tmp_path / "shown"
        process = small.sh("head -c 3000000 /dev/zero | tr '\\0' x", pty=True, stdout=target)
        result = finished(process)

        assert (result.exit_code, result.stdout_truncated) == (0, True)
        assert len(process.stdout.bytes()) == target.stat().st_size == 100_000
        assert result.dropped_bytes == 2_900_000


@pytest.mark.redteam
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_program_cannot_hide_its_end_behind_its_carrier(number: int) -> None:
    """One that kills or stops what carries its terminal loses that; others have theirs."""
    with Sandbox.create(backend="bubblewrap") as victim:
        attack = (
            f"for p in $({CARRIERS}); do d=${{p%/comm}}; kill -{int(number)} ${{d#/proc/}}; done"
        )
        result = finished(victim.sh(f"trap '' HUP; {attack}; exit 9", pty=True))

        assert result.exit_code == 9
        assert finished(victim.sh("echo well", pty=True)).stdout == "well\r\n"


def test_a_daemon_keeps_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a sandbox that lives by a daemon keys and sizes go all the way."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with Sandbox.create(backend="bubblewrap", idle_timeout=600) as kept:
        process = kept.exec("python3", "-c", SIZES, pty=Terminal(30, 90), stdin=PIPE)
        shown(process, "ready 90 30")
        assert process.resize(50, 132)
        shown(process, "heard 132 50")
        found = kept.process(process.id)
        assert found.resize(20, 20)
        shown(process, "heard 20 20")
        typed(process, "\x03")

        assert finished(process).exit_code == 130
