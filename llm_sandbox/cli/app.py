"""What can be typed: the commands, their options and their help."""

import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from llm_sandbox import __version__
from llm_sandbox.cli import kept, mcp, sandboxes, scan
from llm_sandbox.cli.images import images
from llm_sandbox.cli.kernelspec import kernelspec
from llm_sandbox.cli.network import Network, NetworkOption
from llm_sandbox.cli.secrets import secret
from llm_sandbox.cli.session_option import SessionOption
from llm_sandbox.cli.snapshots import snapshots
from llm_sandbox.cli.volumes import volumes

__all__ = [
    "DEFAULT_OUT",
    "Backend",
    "Lang",
    "Libraries",
    "Memory",
    "Network",
    "NetworkOption",
    "Policy",
    "app",
    "doctor",
    "main",
    "run",
    "shell",
]

DEFAULT_OUT = "llm-sandbox-output"

_EPILOG = (
    "Exit code: the program's own; 124 when the timeout ended it, 125 when the sandbox failed, "
    "126 when the policy refused it, 130 after Ctrl-C, 2 for a mistake on the command line."
)

app = typer.Typer(
    name="llm-sandbox",
    help="Run code that a model wrote: isolated, and with every figure coming back as a file.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(images)
app.add_typer(kernelspec)
app.add_typer(snapshots)
app.add_typer(secret)
app.add_typer(volumes)


class _RunCommand(TyperCommand):
    """Gives `--out` its default directory when no value follows it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_default_out(args))


def _with_default_out(words: list[str]) -> list[str]:
    """Put the default after an `--out` that is the last word or stands before an option."""
    filled = []
    for number, word in enumerate(words, start=1):
        filled.append(word)
        if word == "--out" and (number == len(words) or words[number].startswith("-")):
            filled.append(DEFAULT_OUT)
    return filled


Lang = Annotated[str, typer.Option("--lang", "-l", help="Language of the code.", metavar="NAME")]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend",
        "-b",
        help="Where the sandbox is made; without it, the strongest that works here (see doctor).",
        metavar="NAME",
    ),
]
Libraries = Annotated[
    list[str] | None,
    typer.Option("--lib", help="Library to install first; may be repeated.", metavar="NAME"),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory", help="Memory of the sandbox, such as 512m or 2g.", metavar="SIZE"),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy",
        help="Refuse code that this policy does not allow: minimal, development, educational, "
        "data_science, web_scraping, production, strict, or a TOML or JSON file.",
        metavar="PRESET|FILE",
    ),
]


def _show_version(value: bool) -> None:
    if value:
        print(f"llm-sandbox {__version__}")
        raise typer.Exit


@app.callback()
def _start(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass


@app.command(cls=_RunCommand, epilog=_EPILOG)
def run(
    file: Annotated[
        str | None,
        typer.Argument(help="The code; - or nothing reads standard input.", metavar="FILE|-"),
    ] = None,
    code: Annotated[
        str | None, typer.Option("--code", "-c", help="The code itself.", metavar="CODE")
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            "-l",
            help="Language of the code; default: by the file's name, else Python.",
            metavar="NAME",
        ),
    ] = None,
    backend: Backend = None,
    lib: Libraries = None,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", "-t", help="Seconds until the program is stopped.", metavar="S"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help=f"Save figures, tables and files in DIR, or in {DEFAULT_OUT}.",
            metavar="[DIR]",
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the whole result as one JSON document.")
    ] = False,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="With --json: print each output as a JSON line when it arrives, and the result "
            "last. Without --json output is always live.",
        ),
    ] = False,
    stdin: Annotated[
        str | None,
        typer.Option(
            "--stdin",
            help="What the program's input() reads; - is standard input.",
            metavar="FILE|-",
        ),
    ] = None,
    network: NetworkOption = Network.BLOCKED,
    memory: Memory = None,
    policy: Policy = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env", "-e", help="Environment variable; may be repeated.", metavar="KEY=VALUE"
        ),
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            "-f",
            help="File or directory to copy into the working directory; may be repeated.",
            metavar="HOST[:DEST]",
        ),
    ] = None,
    session: SessionOption = None,
) -> None:
    """Run a program in a fresh sandbox, or in a session that is kept.

    What it writes comes out here as it is written. What it shows and makes is saved with --out.
    """
    from llm_sandbox.cli.options import MachineOptions
    from llm_sandbox.cli.run import Arguments, main, prepare_environment
    from llm_sandbox.cli.source_languages import language_of

    prepare_environment()
    if lang is None:
        lang = (language_of(Path(file)) if file and file != "-" else None) or "python"
    given = (lib or [], network.value, memory, policy, env or [])
    machine = MachineOptions(lang, backend, *given, whole=True)
    raise typer.Exit(
        main(
            Arguments(machine, file, code, timeout, out, json, stream, stdin, files or [], session)
        )
    )


@app.command(epilog="Ctrl-C stops what is running, Ctrl-D or `exit` leaves.")
def shell(
    lang: Lang = "python",
    backend: Backend = None,
    lib: Libraries = None,
    network: NetworkOption = Network.BLOCKED,
    memory: Memory = None,
    policy: Policy = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Save figures and files here, not in a temporary directory.",
            metavar="DIR",
        ),
    ] = None,
) -> None:
    """Talk to an interpreter in a sandbox, block by block.

    Variables and files are kept until you leave.

    Standard input may be a file, too. A block that fails does not stop it; the exit code is then 1.
    """
    from llm_sandbox.cli.options import MachineOptions
    from llm_sandbox.cli.shell import main

    machine = MachineOptions(lang, backend, lib or [], network.value, memory, policy)
    raise typer.Exit(main(machine, out))


@app.command(epilog="Exit code: 0 when something here isolates, else 1.")
def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say which backends work here, how strongly they isolate, and what to type for the others."""
    from llm_sandbox.cli.doctor import main

    raise typer.Exit(main(as_json=json))


scan.add_to(app)
kept.add_to(app)
sandboxes.add_to(app)
mcp.add_to(app)


def main() -> NoReturn:
    """Run the command line and exit."""
    # Until a command has something to tidy up, Ctrl-C ends it at once, and what it started with it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    try:
        app(prog_name="llm-sandbox")
    except Exception:  # noqa: BLE001 - must not end like the program's own error
        traceback.print_exc()
        sys.exit(125)
    sys.exit(0)
