"""Commands of the command line, with their options and help."""

import os
import signal
import sys
from typing import Annotated, NoReturn

from llm_sandbox.cli import grammar
from llm_sandbox.cli.grammar import Argument, Command, Group, Option, Parsed
from llm_sandbox.cli.options import DEFAULT_TIMEOUT_S, SessionOption, SessionOptions, read_seconds
from llm_sandbox.const import VERSION

__all__ = ["DEFAULT_OUT", "app", "doctor", "main", "run", "shell"]

DEFAULT_OUT = "llm-sandbox-output"


def run(
    parsed: Parsed,
    options: SessionOptions,
    words: Annotated[
        list[str] | None,
        Argument(
            help="The code's file, and arguments for it; - or nothing reads standard input. "
            "Arguments that begin with - stand after --.",
            metavar="[FILE|-] [ARGUMENT]...",
        ),
    ] = None,
    code: Annotated[
        str | None, Option("--code", "-c", help="The code itself.", metavar="CODE")
    ] = None,
    lang: Annotated[
        str | None,
        Option(
            "--lang",
            "-l",
            help="Language of the code; default: by the file's name, else Python.",
            metavar="NAME",
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        Option(
            "--timeout",
            "-t",
            help=f"Seconds until the program is stopped, or none; {DEFAULT_TIMEOUT_S:g} without "
            "it.",
            metavar="S",
            parse=read_seconds,
        ),
    ] = None,
    out: Annotated[
        str | None,
        Option(
            "--out",
            help=f"Save figures, tables and files in DIR, or in {DEFAULT_OUT}.",
            metavar="[DIR]",
            lone=DEFAULT_OUT,
        ),
    ] = None,
    json: Annotated[
        bool, Option("--json", help="Print the whole result as one JSON document.")
    ] = False,
    stream: Annotated[
        bool,
        Option(
            "--stream",
            help="With --json: print each output as a JSON line when it arrives, and the result "
            "last. Without --json output is always live.",
        ),
    ] = False,
    stdin: Annotated[
        str | None,
        Option(
            "--stdin",
            help="What the program's input() reads; - is standard input.",
            metavar="FILE|-",
        ),
    ] = None,
    files: Annotated[
        list[str] | None,
        Option(
            "--file",
            "-f",
            help="File or directory to copy into the working directory; may be repeated.",
            metavar="HOST[:DEST]",
        ),
    ] = None,
    session: SessionOption = None,
) -> None:
    """Run a program in a fresh sandbox, or in a detached session.

    What it writes comes out here as it is written. What it shows and makes is saved with --out.
    """
    from llm_sandbox.cli.run import Arguments, main, prepare_environment

    prepare_environment()
    typed = list(words or ())
    arguments = parsed.rest if code is not None else typed[1:]
    file = typed[0] if len(typed) > (len(arguments) if code is not None else 0) else None
    raise SystemExit(
        main(
            Arguments(
                *(options, file, code, arguments, lang, timeout),
                *(out, json, stream, stdin, files or [], session),
            )
        )
    )


def shell(
    options: SessionOptions,
    lang: Annotated[
        str, Option("--lang", "-l", help="Language of the code.", metavar="NAME")
    ] = "python",
    timeout: Annotated[
        float | None,
        Option(
            "--timeout",
            "-t",
            help=f"Seconds until a block is stopped, or none; without it, {DEFAULT_TIMEOUT_S:g}, "
            "and none for what is typed.",
            metavar="S",
            parse=read_seconds,
        ),
    ] = None,
    out: Annotated[
        str | None,
        Option(
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
    from llm_sandbox.cli.shell import main

    raise SystemExit(main(options, lang, timeout, out))


def doctor(
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Everything: settings, languages, what holds what.")
    ] = False,
    json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Say which backends work here, how strongly they isolate, and what to type for the others."""
    from llm_sandbox.cli.doctor import main

    raise SystemExit(main(as_json=json, verbose=verbose))


_PACKAGE = "llm_sandbox.cli"
_RUN_EPILOG = (
    "Exit code: the program's own; 124 when the timeout ended it, 125 when the sandbox failed, "
    "126 when the policy refused it, 130 after Ctrl-C, 2 for a mistake on the command line."
)

app = Group(
    "llm-sandbox",
    "Run code that a model wrote: isolated, and with every figure coming back as a file.",
    {
        "run": Command(run, epilog=_RUN_EPILOG),
        "shell": Command(
            shell, epilog="Ctrl-C stops what is running, Ctrl-D or `exit` leaves, `?` helps."
        ),
        "doctor": Command(doctor, epilog="Exit code: 0 when something here isolates, else 1."),
        "scan": f"{_PACKAGE}.scan:SCAN",
        "evaluate": f"{_PACKAGE}.evaluate:EVALUATE",
        "start": f"{_PACKAGE}.detached:START",
        "logs": f"{_PACKAGE}.detached:LOGS",
        "exec": f"{_PACKAGE}.detached:EXEC",
        "cp": f"{_PACKAGE}.detached:CP",
        "ps": f"{_PACKAGE}.sandboxes:PS",
        "stop": f"{_PACKAGE}.sandboxes:STOP",
        "gc": f"{_PACKAGE}.sandboxes:GC",
        "mcp": f"{_PACKAGE}.mcp:MCP",
        "serve": f"{_PACKAGE}.serve:SERVE",
        "key": f"{_PACKAGE}.serve:KEY",
        "images": f"{_PACKAGE}.images:IMAGES",
        "kubernetes": f"{_PACKAGE}.kubernetes:KUBERNETES",
        "kernelspec": f"{_PACKAGE}.kernelspec:KERNELSPEC",
        "snapshots": f"{_PACKAGE}.storage:SNAPSHOTS",
        "secret": f"{_PACKAGE}.storage:SECRET",
        "volumes": f"{_PACKAGE}.storage:VOLUMES",
    },
)


def main() -> NoReturn:
    """Run the command line and exit."""
    # Until a command has something to tidy up, Ctrl-C ends it at once, and what it started with it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    words = sys.argv[1:]
    if words[:1] == ["--version"]:
        print(f"llm-sandbox {VERSION}")
        sys.exit(0)
    try:
        grammar.run(app, words)
    except Exception:  # noqa: BLE001 - must not end like the program's own error
        import traceback

        traceback.print_exc()
        sys.exit(125)
