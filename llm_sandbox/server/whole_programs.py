"""Whole programs, each compiled and run in a sandbox of its own that ends with it."""

import base64
import binascii
import posixpath
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llm_sandbox.backends.base import Exit
from llm_sandbox.const import SupportedLanguage
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import (
    PathError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    ValidationError,
)
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.sandbox.parts import machine_of
from llm_sandbox.sandbox.process import exit_of
from llm_sandbox.server.fleet import Fleet

__all__ = [
    "Outcome",
    "ProgramResult",
    "WholeProgram",
    "check_path",
    "decode_files",
    "fetch",
    "run_program",
]

_FOLDER = "/tmp/llm-sandbox-program"  # noqa: S108 - inside the sandbox
_MOST_OUTPUT = 1 << 20
_MOST_FETCHED = 16 << 20


@dataclass(frozen=True)
class WholeProgram:
    """Program to run, with its input."""

    language: str
    """Language of the library."""
    code: str
    """Source text of its main file."""
    stdin: str = ""
    """Standard input."""
    argv: Sequence[str] = ()
    """Arguments."""
    command: Sequence[str] = ()
    """Command that runs the main file, given last; empty for the language's own."""
    name: str | None = None
    """Name of the main file; None for the language's own."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Other files by path relative to the working directory."""
    fetch: Sequence[str] = ()
    """Files to return."""
    compile_timeout_s: float = 10.0
    """Seconds for compiling."""
    run_timeout_s: float = 10.0
    """Seconds for running."""
    memory_bytes: int | None = None
    """Memory; None for the server's limit."""


@dataclass(frozen=True)
class ProgramResult:
    """One step of a program: its result, and how its process ended."""

    result: ProcessResult
    ended: Exit


@dataclass(frozen=True)
class Outcome:
    """Outcome of a whole program."""

    compiled: ProgramResult | None
    """Compilation; None in a language without one."""
    ran: ProgramResult | None
    """Run; None if it was not compiled."""
    files: Mapping[str, bytes]
    """Files that were asked for and are there."""


def run_program(fleet: Fleet, tenant: str, program: WholeProgram, patience_s: float) -> Outcome:
    """Compile and run a program.

    Args:
        fleet: The sandboxes.
        tenant: The tenant.
        program: The program.
        patience_s: Seconds to wait for its turn.

    Raises:
        QuotaExceededError: Its turn did not come in time.
        SandboxError: The sandbox failed; the program's own failure is in the outcome.
    """
    handler = LanguageHandlerFactory.create_handler(program.language)
    with fleet.program_sandbox(
        tenant,
        handler.name,
        patience_s=patience_s,
        memory_bytes=program.memory_bytes,
    ) as sandbox:
        for path, data in program.files.items():
            sandbox.files.write_bytes(path, data)
        compiled = ran = None
        steps = _steps(sandbox, handler, program)
        for number, (argv, compiles, envs) in enumerate(steps, 1):
            is_last = number == len(steps)
            process = sandbox.exec(
                *argv,
                *(program.argv if is_last else ()),
                env=envs,
                stdin=program.stdin if is_last else None,
                timeout=program.compile_timeout_s if compiles else program.run_timeout_s,
            )
            done = process.collect(_MOST_OUTPUT)
            step = ProgramResult(done, exit_of(process) or Exit(done.exit_code))
            if compiles:
                compiled = step
            else:
                ran = step
            if done.exit_code:
                break
        return Outcome(compiled, ran, fetch(sandbox, program.fetch))


def _steps(
    sandbox: Sandbox, handler: AbstractLanguageHandler, program: WholeProgram
) -> list[tuple[tuple[str, ...], bool, dict[str, str]]]:
    is_python = handler.name == SupportedLanguage.PYTHON
    name = program.name or handler.source_name(program.code)
    if is_python or program.command:
        # Beside its other files, which it imports and reads by their names.
        file = posixpath.join(sandbox.workdir, name)
        sandbox.files.write_text(file, program.code)
        command = program.command or (machine_of(sandbox).python() or "python3",)
        return [((*command, file), False, {"PYTHONUNBUFFERED": "1", "MPLBACKEND": "Agg"})]
    file = f"{_FOLDER}/{handler.source_name(program.code)}"
    sandbox.files.write_text(file, textwrap.dedent(program.code))
    folder = handler.shim_folder
    family = folder.parent.name if folder is not None else handler.name
    shim = machine_of(sandbox).language_folder(family)
    envs = {
        **handler.program_environment(shim, f"{_FOLDER}/displays"),
        "LLM_SANDBOX_DISPLAYS": f"{_FOLDER}/displays",
    }
    return [(step.argv, step.compiles, {**envs, **step.env}) for step in handler.plan(file, shim)]


def decode_files(given: object) -> dict[str, bytes]:
    """Return the files of a request, by path.

    Args:
        given: Texts by path, in base64.

    Raises:
        ValidationError: They are something else, or a path leads out of the working directory.
    """
    if not isinstance(given, Mapping):
        raise ValidationError("invalid files: expected texts by path", parameter="files")
    files = {}
    for path, text in given.items():
        if text is None:
            continue
        try:
            data = base64.b64decode(text if isinstance(text, str) else "?", validate=True)
        except (binascii.Error, ValueError):
            raise ValidationError("invalid files: expected base64", parameter="files") from None
        files[check_path(path)] = data
    return files


def check_path(path: object) -> str:
    """Return a path relative to the working directory.

    Raises:
        PathError: It is none, or leads out of it.
    """
    if not isinstance(path, str) or not path or "\0" in path:
        raise PathError("invalid path: expected text")
    normal = posixpath.normpath(path)
    if normal.startswith(("/", "../")) or normal in (".", ".."):
        raise PathError("invalid path: expected one below the working directory", path=path)
    return normal


def fetch(sandbox: Sandbox, paths: Sequence[str]) -> dict[str, bytes]:
    """Return files of a sandbox by path, those that are there; 16 MiB in all at most."""
    found: dict[str, bytes] = {}
    left = _MOST_FETCHED
    for path in paths:
        try:
            found[path] = sandbox.files.read_bytes(path, left)
        except (SandboxFileNotFoundError, SandboxIsADirectoryError):
            continue
        left -= len(found[path])
    return found
