"""Client of Docker's command ``sbx``: location, supported options, calls."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, Literal

from llm_sandbox.adapters.sbx_agents.results import CommandResult
from llm_sandbox.adapters.sbx_agents.session import StreamFilter
from llm_sandbox.adapters.sbx_agents.streaming import LinePrinter
from llm_sandbox.exceptions import BackendUnavailableError, SandboxError

__all__ = ["BACKEND", "SbxCli", "sbx_failure"]

BACKEND = "sbx"
_HELP_S = 30.0
_TOLD = 2000
_LOOK_S = 0.5
_LAST_WORDS_S = 1.0
_INSTALL = {
    "darwin": "brew install docker/tap/sbx && sbx login",
    "linux": "sudo apt-get install docker-sbx && sbx login "
    "(Docker's package repository: https://docs.docker.com/ai/sandboxes/)",
    "win32": "winget install Docker.sbx, then: sbx login",
}
_FLAG = re.compile(r"(?<![\w-])(--?[A-Za-z][\w-]*)", re.ASCII)


class SbxCli:
    """Command ``sbx``, located anew for each call."""

    def path(self) -> str:
        """Return the path of the program.

        Raises:
            BackendUnavailableError: The program is not installed.
        """
        found = shutil.which("sbx")
        if found is None:
            install = _INSTALL.get(sys.platform, "see https://docs.docker.com/ai/sandboxes/")
            raise BackendUnavailableError(
                "Docker's program sbx is not on the PATH",
                backend=BACKEND,
                hint=f"{install}\nor, for a container of this library: engine='builtin'",
            )
        return found

    def call(
        self, *words: str, given: str | bytes | None = None, timeout: float | None = 60.0
    ) -> CommandResult:
        """Run the program to its end, and return its output, whatever the exit code.

        Args:
            words: Arguments.
            given: Standard input; None for none.
            timeout: Seconds until the program is killed; None for no limit.

        Raises:
            SandboxError: The timeout passed.
        """
        started = time.monotonic()
        data = given.encode() if isinstance(given, str) else given
        argv = [self.path(), *words]
        try:
            done = subprocess.run(
                argv,
                input=data or b"",
                capture_output=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SandboxError(
                f"`sbx {' '.join(words[:3])}` did not end within {timeout} s",
                backend=BACKEND,
                hint=f"try it by hand: sbx {' '.join(words[:3])}",
            ) from None
        return CommandResult(
            stdout=done.stdout.decode("utf-8", "replace"),
            stderr=done.stderr.decode("utf-8", "replace"),
            returncode=done.returncode,
            command=["sbx", *words],
            duration_ms=round((time.monotonic() - started) * 1000),
        )

    def understands(self, verb: str, flag: str) -> bool:
        """Return whether the help of a command lists a flag.

        Args:
            verb: Command, such as ``secret set``.
            flag: Option, such as ``--oauth``.
        """
        return flag in _FLAG.findall(self.help(verb))

    def usage(self, verb: str) -> str:
        """Return the usage line in the help of a command; empty if there is none."""
        text = self.help(verb)
        _, found, rest = text.partition("Usage:")
        return rest.split("\n\n")[0] if found else ""

    def help(self, verb: str) -> str:
        """Return the help of a command; of the program itself for an empty one."""
        path = self.path()
        status = Path(path).stat()
        # A program that is replaced may understand other things.
        return _help(path, verb, status.st_mtime_ns, status.st_size)

    def follow(
        self,
        words: Sequence[str],
        *,
        timeout: float | None,
        stream: bool,
        line_filter: StreamFilter | None,
    ) -> CommandResult:
        """Run the program to its end, and print its output as it arrives.

        Args:
            words: Arguments.
            timeout: Seconds until the program and its children are killed; None for no limit.
            stream: Whether output is printed.
            line_filter: Filter of each line before it is printed.

        Raises:
            subprocess.TimeoutExpired: The timeout passed; the exception has the output so far.
        """
        started = time.monotonic()
        printer = LinePrinter(line_filter) if stream else None
        process = subprocess.Popen(
            [self.path(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        kept: dict[str, list[str]] = {"stdout": [], "stderr": []}
        assert process.stdout is not None  # noqa: S101 - it was asked for
        assert process.stderr is not None  # noqa: S101
        readers = [
            _reader(process.stdout, "stdout", kept["stdout"], printer),
            _reader(process.stderr, "stderr", kept["stderr"], printer),
        ]
        try:
            _await(process, started, timeout, printer)
        except subprocess.TimeoutExpired:
            _kill(process)
            _join(readers)
            raise subprocess.TimeoutExpired(
                ["sbx", *words], timeout or 0, "".join(kept["stdout"]), "".join(kept["stderr"])
            ) from None
        except BaseException:
            _kill(process)
            raise
        _join(readers)
        if printer is not None and printer.failure is not None:
            raise printer.failure
        return CommandResult(
            stdout="".join(kept["stdout"]),
            stderr="".join(kept["stderr"]),
            returncode=process.returncode,
            command=["sbx", *words],
            duration_ms=round((time.monotonic() - started) * 1000),
        )


def sbx_failure(what: str, result: CommandResult, hint: str) -> SandboxError:
    """Return the error for a failed call, with the message of the program."""
    said = (result.stderr or result.stdout).strip()[:_TOLD]
    return SandboxError(
        f"{what} failed: sbx ended with {result.returncode}" + (f": {said}" if said else ""),
        backend=BACKEND,
        hint=hint,
    )


@cache
def _help(path: str, verb: str, changed_ns: int, size: int) -> str:
    del changed_ns, size  # only part of the cache key, to notice another program at this path
    try:
        done = subprocess.run(
            [path, *verb.split(), "--help"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_HELP_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BackendUnavailableError(
            f"{path} does not say what it understands: {error}",
            backend=BACKEND,
            hint=f"try it by hand: sbx {verb} --help",
        ) from None
    return f"{done.stdout}\n{done.stderr}" if done.returncode == 0 else ""


def _reader(
    pipe: IO[bytes],
    source: Literal["stdout", "stderr"],
    kept: list[str],
    printer: LinePrinter | None,
) -> threading.Thread:
    def read() -> None:
        with pipe:
            for raw in pipe:
                line = raw.decode("utf-8", "replace")
                kept.append(line)
                if printer is not None:
                    printer.print_line(line, source)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _await(
    process: "subprocess.Popen[bytes]",
    started: float,
    timeout: float | None,
    printer: LinePrinter | None,
) -> None:
    while True:
        left = None if timeout is None else max(0.0, started + timeout - time.monotonic())
        try:
            process.wait(_LOOK_S if left is None else min(_LOOK_S, left))
        except subprocess.TimeoutExpired:
            if left is not None and left <= _LOOK_S:
                raise
            if printer is not None:
                printer.report_silence()
            continue
        return


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _join(readers: Sequence[threading.Thread]) -> None:
    # What it left behind on this machine may hold its streams open.
    until = time.monotonic() + _LAST_WORDS_S
    for reader in readers:
        reader.join(max(0.0, until - time.monotonic()))
