"""`llm-sandbox start`, `logs`, `exec` and `cp`: detached sandboxes."""

import contextlib
import json
import os
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from llm_sandbox.cli.exit_codes import exit_codes, usage_error
from llm_sandbox.cli.grammar import Argument, Command, Option
from llm_sandbox.cli.options import MachineOptions
from llm_sandbox.cli.render import Progress
from llm_sandbox.host.terminal import strip_controls

if TYPE_CHECKING:
    from llm_sandbox.sandbox import Process, Sandbox, Terminal
    from llm_sandbox.sandbox.detached.record import Record
    from llm_sandbox.sandbox.streams import OutputStream

__all__ = [
    "CP",
    "EXEC",
    "LOGS",
    "START",
    "Namespace",
    "Which",
    "cp",
    "current_terminal",
    "execute",
    "find",
    "logs",
    "records",
    "relay_terminal",
    "start",
    "to_row",
]

Which = Annotated[
    str, Argument(help="The sandbox: its name, its id, or the id's start.", metavar="SANDBOX")
]
Namespace = Annotated[str, Option("--namespace", help="Where the name counts.", metavar="NAME")]


def start(
    options: MachineOptions,
    command: Annotated[
        list[str] | None,
        Argument(help="A program that the sandbox ends with.", metavar="[COMMAND]..."),
    ] = None,
    name: Annotated[
        str | None, Option("--name", "-n", help="A name to find it by.", metavar="NAME")
    ] = None,
    namespace: Namespace = "default",
    tag: Annotated[
        list[str] | None,
        Option("--tag", help="A text to find it by; may be repeated.", metavar="KEY=VALUE"),
    ] = None,
    terminal: Annotated[
        bool, Option("--tty", help="Give the command a terminal, as large as this one.")
    ] = False,
    timeout: Annotated[
        float | None,
        Option("--timeout", "-t", help="Seconds until it ends by itself.", metavar="S"),
    ] = None,
    idle_timeout: Annotated[
        float | None,
        Option("--idle-timeout", help="Seconds unused until it ends.", metavar="S"),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Create a sandbox that outlives this command, and print its id."""
    from llm_sandbox.sandbox import Sandbox

    if terminal and not command:
        usage_error("--tty is for a command, and there is none", "llm-sandbox start --tty -- sh")
    with exit_codes(as_json=as_json):
        with Progress("starting sandbox"):
            sandbox = Sandbox.create(
                *(command or ()),
                backend=options.backend,
                image=options.image,
                env=options.variables(),
                limits=options.limits(),
                mounts=options.mounts(),
                network=options.network_value(),
                pty=current_terminal() if terminal else False,
                timeout=timeout,
                idle_timeout=idle_timeout,
                name=name,
                namespace=namespace,
                tags=dict(_tag(entry) for entry in tag or ()),
                on_exit="keep",
            )
        sandbox.detach()
    if as_json:
        print(json.dumps({"id": sandbox.id, "name": sandbox.name, "backend": sandbox.backend}))
    else:
        print(sandbox.id)


def logs(
    which: Which,
    process: Annotated[
        str | None,
        Option("--process", help="A program that exec has started.", metavar="ID"),
    ] = None,
    follow: Annotated[bool, Option("--follow", "-f", help="Go on until it has ended.")] = False,
    namespace: Namespace = "default",
) -> None:
    """Print the output of a sandbox's command, from the start.

    Of one that has ended by itself it is the end of that, for a day.
    """
    if process is None and _print_last_output(which, namespace):
        return
    with exit_codes(), find(which, namespace) as sandbox:
        found = sandbox.entry if process is None else sandbox.process(process)
        if found is None:
            usage_error(
                f"{which} was started without a command",
                f"llm-sandbox logs {which} --process ID",
            )
        if follow:
            _copy(found)
            return
        for stream, target in ((found.stdout, sys.stdout), (found.stderr, sys.stderr)):
            target.buffer.write(_available(stream))
            target.flush()


def execute(
    which: Which,
    command: Annotated[
        list[str], Argument(help="The program and its arguments.", metavar="COMMAND...")
    ],
    namespace: Namespace = "default",
    env: Annotated[
        list[str] | None,
        Option("--env", "-e", help="Environment variable; may be repeated.", metavar="KEY=VALUE"),
    ] = None,
    workdir: Annotated[
        str | None, Option("--workdir", "-w", help="Its working directory.", metavar="DIR")
    ] = None,
    timeout: Annotated[
        float | None,
        Option("--timeout", "-t", help="Seconds until it is stopped.", metavar="S"),
    ] = None,
    interactive: Annotated[
        bool, Option("--interactive", "-i", help="Pass standard input on.")
    ] = False,
    terminal: Annotated[
        bool, Option("--tty", help="Give it a terminal; with -i, every key goes to it.")
    ] = False,
    detach: Annotated[
        bool, Option("--detach", "-d", help="Leave it running, and print its id.")
    ] = False,
) -> None:
    """Run a program in a sandbox, and exit with its exit code."""
    from llm_sandbox.sandbox import PIPE

    variables = MachineOptions(env=env).variables()
    if command[0] == "--":
        command = command[1:]
    with exit_codes(), find(which, namespace) as sandbox:
        process = sandbox.exec(
            *command,
            env=variables,
            cwd=workdir,
            timeout=timeout,
            stdin=PIPE if interactive else None,
            pty=current_terminal() if terminal else False,
        )
        if detach:
            print(process.id)
            return
        if process.stdin is not None:
            threading.Thread(target=_feed, args=(process,), daemon=True).start()
        keys = relay_terminal(process) if terminal and interactive else contextlib.nullcontext()
        try:
            with keys:
                code = _copy(process)
        except KeyboardInterrupt:
            process.kill()
            raise
    raise SystemExit(code)


def cp(
    source: Annotated[str, Argument(help="What to copy.", metavar="[SANDBOX:]PATH")],
    target: Annotated[str, Argument(help="Where to.", metavar="[SANDBOX:]PATH")],
    namespace: Namespace = "default",
) -> None:
    """Copy a file or a directory into a sandbox, or out of one."""
    (outside, from_path), (inside, to_path) = _split_path(source), _split_path(target)
    if (outside is None) == (inside is None):
        usage_error("one of the two is in a sandbox", "llm-sandbox cp FILE SANDBOX:PATH")
    with exit_codes(), find(str(outside or inside), namespace) as sandbox:
        try:
            if outside is not None:
                host = Path(to_path)
                name = Path(from_path).name
                sandbox.files.download(from_path, host / name if host.is_dir() else host)
            else:
                ends_in_folder = to_path in ("", ".") or to_path.endswith("/")
                name = f"{to_path or '.'}/{Path(from_path).name}" if ends_in_folder else to_path
                sandbox.files.upload(from_path, name)
        except OSError as error:
            usage_error(f"{error.filename or from_path}: {error.strerror or error}")


# --- the work
def records() -> "list[Record]":
    """Return the records of the living detached sandboxes, newest first."""
    from llm_sandbox.sandbox.detached.registry import live_records
    from llm_sandbox.sandbox.detached.self_kept import settle
    from llm_sandbox.sandbox.detached.state_dir import StateDir

    settle()
    with StateDir() as state_dir:
        return live_records(state_dir)


def _print_last_output(which: str, namespace: str) -> bool:
    """Print the last output of an ended sandbox; return False if the name means a living one or
    none.
    """
    from llm_sandbox.sandbox.detached.registry import find_ended, last_output
    from llm_sandbox.sandbox.detached.state_dir import StateDir

    with exit_codes(), StateDir() as state_dir:
        ended = find_ended(state_dir, which, namespace)
        if ended is None or _is_alive(which, namespace):
            return False
        for data, target in zip(
            last_output(state_dir, ended.id), (sys.stdout, sys.stderr), strict=True
        ):
            # trust: it comes from inside, and a terminal would obey it.
            safe = strip_controls(data.decode("utf-8", "replace")).encode()
            target.buffer.write(safe if target.isatty() else data)
            target.flush()
    return True


def _is_alive(which: str, namespace: str) -> bool:
    return any(
        (one.name, one.namespace) == (which, namespace)
        or (which.startswith("sb-") and one.id.startswith(which))
        for one in records()
    )


def find(which: str, namespace: str = "default") -> "Sandbox":
    """Attach to a sandbox by its name, its id, or the start of its id.

    Raises:
        SandboxNotFoundError: No sandbox matches.
    """
    from llm_sandbox.sandbox import Sandbox
    from llm_sandbox.sandbox.detached.record import ID

    if ID.fullmatch(which):
        return Sandbox.attach(which)
    there = records()
    if not any(one.name == which and one.namespace == namespace for one in there):
        begin = [one.id for one in there if which.startswith("sb-") and one.id.startswith(which)]
        if len(begin) == 1:
            return Sandbox.attach(begin[0])
    return Sandbox.from_name(which, namespace)


def to_row(record: "Record") -> dict[str, object]:
    """Return a record as JSON types."""
    from dataclasses import asdict

    return {**asdict(record), "tags": dict(record.tags)}


def _tag(entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    if not name or not equals:
        usage_error(f"--tag needs a name and a value, unlike {entry!r}", "--tag KEY=VALUE")
    return name, value


def _split_path(text: str) -> tuple[str | None, str]:
    """Split ``[SANDBOX:]PATH``; the sandbox is None for a path of this computer."""
    which, colon, path = text.partition(":")
    return (which, path) if colon and which and "/" not in which else (None, text)


def _copy(process: "Process") -> int:
    """Copy the output of a program to this process's own until it ends; return its exit code."""
    from llm_sandbox.sandbox.streams import iterate_bytes

    def carry(stream: "OutputStream", fd: int) -> None:
        for data in iterate_bytes(stream):
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]

    sys.stdout.flush()
    errors = threading.Thread(target=carry, args=(process.stderr, 2), daemon=True)
    errors.start()
    carry(process.stdout, 1)
    code = process.wait()
    errors.join(1.0)
    return code


def _feed(process: "Process") -> None:
    stdin = process.stdin
    assert stdin is not None  # noqa: S101 - asked for
    while data := os.read(0, 1 << 16):
        stdin.write(data)
    stdin.write_eof()


def _available(stream: "OutputStream") -> bytes:
    """Return what a stream holds now; output that the daemon has stored arrives within a moment."""
    stream._spool.wait_end(0.3)
    return stream._spool.peek()[0]


START = Command(start, options_first=True)

LOGS = Command(logs)

EXEC = Command(execute, "exec", options_first=True)

CP = Command(cp)


def current_terminal() -> "Terminal":
    """Return a terminal with the size and type of this command's own, or a default one."""
    from llm_sandbox.sandbox import Terminal

    usual = Terminal(term=os.environ.get("TERM") or "dumb")
    with contextlib.suppress(OSError):
        size = os.get_terminal_size(0)
        if size.lines and size.columns:
            return Terminal(size.lines, size.columns, usual.term)
    return usual


@contextlib.contextmanager
def relay_terminal(process: "Process") -> Iterator[None]:
    """Relay keys and window sizes to the program inside the block, without a local echo.

    Do nothing if the standard input of this command is not a terminal.
    """
    try:
        before = termios.tcgetattr(0)
    except termios.error:
        yield
        return

    def resize() -> None:
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(0)
            if size.lines and size.columns:
                process.resize(size.lines, size.columns)

    def on_resize(*_: object) -> None:
        # In a thread: a handler may run in the middle of what it would have to wait for.
        threading.Thread(target=resize, daemon=True).start()

    old = signal.signal(signal.SIGWINCH, on_resize)
    try:
        tty.setraw(0)
        resize()
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        signal.signal(signal.SIGWINCH, old)
