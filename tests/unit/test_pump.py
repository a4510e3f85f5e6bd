"""The pump, with pipes of this process in place of a program."""

import os
import time

import pytest

from llm_sandbox.backends.base import Ending, Exit
from llm_sandbox.exceptions import SandboxTimeoutError, ValidationError
from llm_sandbox.sandbox.pump import get_pump
from llm_sandbox.sandbox.streams import open_input, open_output


def is_closed(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return True
    return False


def test_a_pipe_is_drained_to_its_end():
    read, write = os.pipe()
    stream, spool = open_output(read, 1 << 20, Ending())
    os.write(write, b"one ")
    os.write(write, b"two")
    os.close(write)

    assert stream.read() == "one two"
    assert spool.ended_at is not None


def test_a_pipe_held_open_ends_soon_after_the_program():
    read, write = os.pipe()
    ending = Ending()
    stream, _ = open_output(read, 1 << 20, ending)
    os.write(write, b"last words")
    started = time.monotonic()
    ending.set(Exit(0))

    assert stream.read() == "last words"
    assert 0.1 < time.monotonic() - started < 3
    os.close(write)


def test_a_pipe_of_a_running_program_stays_open():
    read, write = os.pipe()
    stream, spool = open_output(read, 1 << 20, Ending())
    os.write(write, b"x")
    time.sleep(0.5)

    assert spool.ended_at is None
    os.close(write)
    assert stream.read() == "x"


def test_input_is_fed_as_fast_as_it_is_taken():
    read, write = os.pipe()
    stream = open_input(write, Ending())
    data = os.urandom(1_000_000)
    stream.write(data)
    stream.write_eof()
    with pytest.raises(SandboxTimeoutError):
        stream.drain(0.05)
    with os.fdopen(read, "rb") as file:
        assert file.read() == data

    stream.drain(5)


def test_input_with_no_reader_is_a_broken_pipe():
    read, write = os.pipe()
    stream = open_input(write, Ending())
    os.close(read)
    stream.write("x")

    with pytest.raises(BrokenPipeError):
        stream.drain(5)
    stream.write("more")
    with pytest.raises(BrokenPipeError):
        stream.drain(5)


def test_the_end_of_the_program_ends_its_input():
    read, write = os.pipe()
    ending = Ending()
    stream = open_input(write, ending)
    stream.write(b"x" * 1_000_000)
    ending.set(Exit(0))

    with pytest.raises(BrokenPipeError):
        stream.drain(5)
    os.close(read)


def test_what_is_no_input_is_refused():
    read, write = os.pipe()
    stream = open_input(write, Ending())
    for data in (None, 5, ["x"]):
        with pytest.raises(ValidationError):
            stream.write(data)
    stream.write_eof()
    with os.fdopen(read, "rb") as file:
        assert file.read() == b""


def test_a_forked_child_lets_go_of_the_pipes():
    read, write = os.pipe()
    stream = open_input(write, Ending())
    stream.write("x")
    stream.drain(5)
    report_read, report_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(report_write, b"closed" if is_closed(write) else b"open")
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(report_read, 10) == b"closed"
    stream.write_eof()
    with os.fdopen(read, "rb") as file:
        assert file.read() == b"x"
    for fd in (report_read, report_write):
        os.close(fd)


def test_there_is_one_pump():
    assert get_pump() is get_pump()
