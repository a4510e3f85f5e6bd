"""Candidate: the code that is tested, in a process of its own that the runner forked.

A program runs as `__main__` of a script, with real descriptors for its streams. A module is loaded
once, and each call of one of its functions runs in a fork of that process.

Whatever the code does to this process harms its own verdict only: it knows no expected value, and
the runner counts, limits and ends it from outside.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import io
import itertools
import json
import os
import random
import signal
import socket
import sys
import types

from . import main_module
from .value_exchange import encode_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

MODULE = "candidate"
"""Name of the module of a candidate whose functions are called."""
TESTS = "<tests>"
"""File name of assertions."""
_MOST_ITEMS = 1_000_000
READY = b"R"
"""First byte of the report on the start of a candidate: its code is compiled."""


Streams = tuple[io.TextIOWrapper, io.TextIOWrapper, io.TextIOWrapper]


def make_streams() -> Streams:
    """Make the streams of `sys` for the descriptors of the standard streams."""
    # What the interpreter does in a locale of UTF-8; bytes that are not come through unchanged.
    stdin = io.TextIOWrapper(
        io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8", "surrogateescape"
    )
    stdout = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(1, "w", closefd=False)), "utf-8", "surrogateescape"
    )
    stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
        "utf-8",
        "backslashreplace",
        line_buffering=True,
        write_through=True,
    )
    return stdin, stdout, stderr


def prepare_streams(stdin: int) -> Streams:
    """Make streams for a fork whose output will be pipes.

    Args:
        stdin: File of the kind that its input will be; it is closed.
    """
    kept = [os.dup(number) for number in range(3)]
    read, write = os.pipe()
    for target, fd in enumerate((stdin, write, write)):
        os.dup2(fd, target)
    try:
        return make_streams()
    finally:
        for target, fd in enumerate(kept):
            os.dup2(fd, target)
        for fd in (*kept, stdin, read, write):
            os.close(fd)


def set_streams(stdin: int, stdout: int, stderr: int, streams: Streams | None = None) -> None:
    """Make three descriptors those of the standard streams, for programs and for `sys`.

    Args:
        stdin: Input.
        stdout: Output.
        stderr: Errors.
        streams: Streams of `prepare_streams`; None to make them.
    """
    for target, fd in enumerate((stdin, stdout, stderr)):
        os.dup2(fd, target)
    sys.stdin, sys.stdout, sys.stderr = streams or make_streams()
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, f"__{name}__", getattr(sys, name))


def seed(number: int) -> None:
    """Seed the random numbers of the standard library and of numpy, if that is loaded."""
    random.seed(number)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(number & 0xFFFFFFFF)


def run_program(path: str, code: str, args: list[str], report: int) -> NoReturn:
    """Run a script as ``python path args`` does, and end the process as that would.

    Args:
        path: Path of the script.
        code: Its content.
        args: Command line arguments.
        report: Descriptor for the report on the start; it is closed before the code runs.
    """
    main_module.set_command_line(path, *args)
    sys.path.insert(0, os.path.dirname(path))
    module = types.ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = module
    end_process(lambda: exec(_compile(code, path, report), vars(module)))  # noqa: S102


def _compile(code: str, path: str, report: int) -> types.CodeType:
    """Compile code, and report whether that worked, which cannot be forged afterwards."""
    try:
        compiled = compile(code, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError) as error:
        facts = {
            "error": f"{type(error).__name__}: {error}",
            "line": getattr(error, "lineno", None),
            "column": getattr(error, "offset", None),
        }
        os.write(report, json.dumps(facts).encode()[:4000])
        os.close(report)
        raise
    os.write(report, READY)
    os.close(report)
    return compiled


def end_process(work: Callable[[], object]) -> NoReturn:
    """Do the work of a program, and end the process as an interpreter ends: with its exit code,
    after threads, exit handlers and buffers.
    """
    status = _status_of(work)
    threading = sys.modules.get("threading")
    if threading is not None:
        with contextlib.suppress(BaseException):
            threading._shutdown()
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            status = status or 120
        except BaseException:  # noqa: BLE001 - a stream of the program's own making
            status = status or 120
    os._exit(status & 0xFF)


def _status_of(work: Callable[[], object]) -> int:
    try:
        work()
    except SystemExit as error:
        return _exit_code(error)
    except BaseException as error:  # noqa: BLE001 - reported as the interpreter does
        show_error(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    with contextlib.suppress(BaseException):
        print(error.code, file=sys.stderr)
    return 1


def show_error(error: BaseException) -> None:
    """Show an uncaught error through `sys.excepthook`, without the frames of this module."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:  # noqa: BLE001 - a hook of the program's own making
        with contextlib.suppress(BaseException):
            sys.__excepthook__(type(error), error, trace)


# --- functions


def serve_calls(code: str, setup: str, path: str, requests: socket.socket, report: int) -> NoReturn:
    """Load the code, and fork for each call that the runner asks for.

    Args:
        code: Code of the candidate.
        setup: Code that runs before it, in the same module.
        path: Path that its errors name.
        requests: Connection to the runner; see `Calls`.
        report: As for `run_program`.
    """
    module = types.ModuleType(MODULE)
    vars(module).update(__file__=path, __builtins__=builtins)
    sys.modules[MODULE] = module
    main_module.set_command_line(path)
    # Last, so that no file beside the code takes the place of a library that tests import.
    sys.path.append(os.path.dirname(path))

    def load() -> None:
        compiled = _compile(code, path, report)
        if setup:
            exec(compile(setup, "<setup>", "exec", dont_inherit=True), vars(module))  # noqa: S102
        exec(compiled, vars(module))  # noqa: S102

    status = _status_of(load)
    if status == 0:
        # What each fork would do again, in memory of its own.
        streams = prepare_streams(os.open(os.devnull, os.O_RDONLY))
        # A fork's generator is seeded anew, and no two runs of a test would be alike.
        state = random.getstate()
        requests.send(READY)
        while True:
            data, fds, _, _ = socket.recv_fds(requests, 1 << 16, 3)
            if len(fds) != 3:
                break
            pid = os.fork()
            if pid == 0:
                random.setstate(state)
                _serve_call(vars(module), data, fds, streams)
            for fd in fds:
                os.close(fd)
            _, ended = os.waitpid(pid, 0)
            requests.send(json.dumps(ended).encode())
    end_process(lambda: sys.exit(status))


def _serve_call(
    namespace: dict[str, Any], data: bytes, fds: list[int], streams: Streams
) -> NoReturn:
    channel, stdout, stderr = fds
    set_streams(os.open(os.devnull, os.O_RDONLY), stdout, stderr, streams)
    os.close(stdout)
    os.close(stderr)
    end_process(lambda: _call(namespace, json.loads(data), socket.socket(fileno=channel)))


def _call(namespace: dict[str, Any], request: dict[str, Any], stream: socket.socket) -> None:
    from shim import values

    args, kwargs = values.decode(
        *(stream.recv(size, socket.MSG_WAITALL) if size else b"" for size in request["sizes"])
    )
    facts: dict[str, Any] = {"nonce": request["nonce"]}
    parts = b"", b""
    try:
        if request["inline"]:
            from . import inline_tests

            result = getattr(inline_tests, request["inline"])(namespace, *args)
        else:
            result = _find(namespace, request["fn"])(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - reported
        show_error(error)
        facts["raised"] = {
            "type": type(error).__name__,
            "bases": [
                kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"
            ],
            "message": text_of(error),
            "line": line_of(error),
        }
        result = None
    try:
        value = result
        if request["with_arguments"]:
            facts["made_of"], value = _plain_form(result)
            # With its arguments, which it may have changed.
            value = [value, list(args), dict(kwargs)]
        parts = values.encode(value, request["limit"])
    except values.TransferError as error:
        facts["not_transferable"] = error.to_dict()
    for stream_file in (sys.stdout, sys.stderr):
        stream_file.flush()
    stream.sendall(encode_frame(facts, parts))
    # The runner measures this process while it exists, and ends it.
    while True:
        signal.pause()


def _plain_form(value: Any) -> tuple[str | None, Any]:
    """Return what an iterator or a view is made of, with the name of its kind."""
    if isinstance(value, range):
        return "range", [value.start, value.stop, value.step]
    if isinstance(value, _ITERATORS):
        return "iterator", list(itertools.islice(value, _MOST_ITEMS))
    if isinstance(value, _VIEWS):
        return type(value).__name__, list(value)
    return None, value


_ITERATORS: tuple[Any, ...] = (
    types.GeneratorType,
    map,
    filter,
    zip,
    enumerate,
    reversed,
    type(iter([])),
)
_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))


def text_of(error: BaseException) -> str:
    """Return the message of an error, whatever its class does."""
    try:
        return str(error)[:2000]
    except BaseException:  # noqa: BLE001 - a method of the program's own making
        return ""


def line_of(error: BaseException) -> int | None:
    """Return the line of a test's own code that an error came from."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TESTS:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def _known_path(namespace: dict[str, Any], path: str) -> str:
    """Return the path of a function, or of the method ``Solution().name`` where there is only that.

    Also the other way round: contests ask for either, and models give either.
    """
    prefix = "Solution()."
    name = path.removeprefix(prefix)
    if path == name and name not in namespace and "Solution" in namespace:
        return prefix + name
    if path != name and "Solution" not in namespace and name in namespace:
        return name
    return path


def _find(namespace: dict[str, Any], path: str) -> Any:
    """Return what a test calls: ``name``, ``name.attribute`` or ``Name().method``."""
    first, *rest = _known_path(namespace, path).split(".")
    found: Any = None
    for position, part in enumerate((first, *rest)):
        name = part.removesuffix("()")
        if position:
            found = getattr(found, name)
        elif name in namespace:
            found = namespace[name]
        else:
            raise NameError(f"name {name!r} is not defined", name=name)
        if name != part:
            found = found()
    return found
