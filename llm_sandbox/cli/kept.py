"""`llm-sandbox start`, `logs`, `exec` and `cp`: sandboxes that outlive the command."""

import contextlib
import json
import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from llm_sandbox.cli.endings import exit_codes, usage_error
from llm_sandbox.cli.network import Network, NetworkOption
from llm_sandbox.cli.options import MachineOptions
from llm_sandbox.cli.render import Progress
from llm_sandbox.cli.tty import handed_through, like_this

if TYPE_CHECKING:
    from llm_sandbox.sandbox import Process, Sandbox
    from llm_sandbox.sandbox.kept.record import Record
    from llm_sandbox.sandbox.streams import OutputStream

__all__ = [
    "Namespace",
    "Which",
    "add_to",
    "cp",
    "execute",
    "find",
    "logs",
    "records",
    "start",
    "to_row",
]

_AS_THEY_ARE = {"allow_interspersed_args": False, "ignore_unknown_options": False}

Which = Annotated[
    str, typer.Argument(help="The sandbox: its name, its id, or the id's start.", metavar="SANDBOX")
]
Namespace = Annotated[
    str, typer.Option("--namespace", help="Where the name counts.", metavar="NAME")
]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command(context_settings=_AS_THEY_ARE)(start)
    app.command()(logs)
    app.command(name="exec", context_settings=_AS_THEY_ARE)(execute)
    app.command()(cp)


def start(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="A program that the sandbox ends with.", metavar="[COMMAND]..."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", "-n", help="A name to find it by.", metavar="NAME")
    ] = None,
    namespace: Namespace = "default",
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", help="A text to find it by; may be repeated.", metavar="KEY=VALUE"),
    ] = None,
    backend: Annotated[
        str | None, typer.Option("--backend", "-b", help="Where it is made.", metavar="NAME")
    ] = None,
    image: Annotated[
        str | None, typer.Option("--image", help="Image of a container.", metavar="IMAGE")
    ] = None,
    terminal: Annotated[
        bool, typer.Option("--tty", help="Give the command a terminal, as large as this one.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", "-t", help="Seconds until it ends by itself.", metavar="S"),
    ] = None,
    idle_timeout: Annotated[
        float | None,
        typer.Option("--idle-timeout", help="Seconds unused until it ends.", metavar="S"),
    ] = None,
    network: NetworkOption = Network.BLOCKED,
    memory: Annotated[
        str | None, typer.Option("--memory", help="Memory, such as 512m or 2g.", metavar="SIZE")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env", "-e", help="Environment variable; may be repeated.", metavar="KEY=VALUE"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a sandbox that lives on when this command has ended, and print its id."""
    from llm_sandbox.network import Network as SandboxNetwork
    from llm_sandbox.sandbox import Sandbox

    machine = MachineOptions(backend=backend, memory=memory, env=env or [])
    if terminal and not command:
        usage_error("--tty is for a command, and there is none", "llm-sandbox start --tty -- sh")
    with exit_codes(as_json=as_json):
        with Progress("starting sandbox"):
            sandbox = Sandbox.create(
                *(command or ()),
                backend=backend,
                image=image,
                env=machine.variables(),
                limits=machine.limits(),
                network=cast(SandboxNetwork, network.value),
                pty=like_this() if terminal else False,
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
        typer.Option("--process", help="A program that exec has started.", metavar="ID"),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until it has ended.")
    ] = False,
    namespace: Namespace = "default",
) -> None:
    """Print what a sandbox's command has written, from the start."""
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
            target.buffer.write(_now(stream))
            target.flush()


def execute(
    which: Which,
    command: Annotated[
        list[str], typer.Argument(help="The program and its arguments.", metavar="COMMAND...")
    ],
    namespace: Namespace = "default",
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env", "-e", help="Environment variable; may be repeated.", metavar="KEY=VALUE"
        ),
    ] = None,
    workdir: Annotated[
        str | None, typer.Option("--workdir", "-w", help="Its working directory.", metavar="DIR")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", "-t", help="Seconds until it is stopped.", metavar="S"),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Pass standard input on.")
    ] = False,
    terminal: Annotated[
        bool, typer.Option("--tty", help="Give it a terminal; with -i, every key goes to it.")
    ] = False,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Leave it running, and print its id.")
    ] = False,
) -> None:
    """Run a program in a sandbox; exits as it does."""
    from llm_sandbox.sandbox import PIPE

    variables = MachineOptions(env=env or []).variables()
    if command[0] == "--":
        command = command[1:]
    with exit_codes(), find(which, namespace) as sandbox:
        process = sandbox.exec(
            *command,
            env=variables,
            cwd=workdir,
            timeout=timeout,
            stdin=PIPE if interactive else None,
            pty=like_this() if terminal else False,
        )
        if detach:
            print(process.id)
            return
        if process.stdin is not None:
            threading.Thread(target=_feed, args=(process,), daemon=True).start()
        keys = handed_through(process) if terminal and interactive else contextlib.nullcontext()
        try:
            with keys:
                code = _copy(process)
        except KeyboardInterrupt:
            process.kill()
            raise
    raise typer.Exit(code)


def cp(
    source: Annotated[str, typer.Argument(help="What to copy.", metavar="[SANDBOX:]PATH")],
    target: Annotated[str, typer.Argument(help="Where to.", metavar="[SANDBOX:]PATH")],
    namespace: Namespace = "default",
) -> None:
    """Copy a file or a directory into a sandbox, or out of one."""
    (outside, from_path), (inside, to_path) = _place(source), _place(target)
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
    """The kept sandboxes that live, newest first."""
    from llm_sandbox.sandbox.kept.place import Place
    from llm_sandbox.sandbox.kept.registry import live_records

    with Place() as place:
        return live_records(place)


def find(which: str, namespace: str = "default") -> "Sandbox":
    """Attach to a sandbox by its name, its id, or an id's start.

    Raises:
        SandboxNotFoundError: There is none.
    """
    from llm_sandbox.sandbox import Sandbox
    from llm_sandbox.sandbox.kept.record import ID

    if ID.fullmatch(which):
        return Sandbox.attach(which)
    there = records()
    if not any(one.name == which and one.namespace == namespace for one in there):
        begin = [one.id for one in there if which.startswith("sb-") and one.id.startswith(which)]
        if len(begin) == 1:
            return Sandbox.attach(begin[0])
    return Sandbox.from_name(which, namespace)


def to_row(record: "Record") -> dict[str, object]:
    """A record as JSON types."""
    return {**asdict(record), "tags": dict(record.tags)}


def _tag(entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    if not name or not equals:
        usage_error(f"--tag needs a name and a value, unlike {entry!r}", "--tag KEY=VALUE")
    return name, value


def _place(text: str) -> tuple[str | None, str]:
    """The sandbox, None for this machine, and the path."""
    which, colon, path = text.partition(":")
    return (which, path) if colon and which and "/" not in which else (None, text)


def _copy(process: "Process") -> int:
    """Pass on what a program writes until it has ended; returns its exit code."""
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


def _now(stream: "OutputStream") -> bytes:
    """What there is of a stream; what is kept already has come within a moment."""
    stream._spool.wait_end(0.3)
    return stream._spool.peek()[0]
