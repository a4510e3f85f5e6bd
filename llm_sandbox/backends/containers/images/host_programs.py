"""Programs of this machine that image builds run: child processes, and pip for wheels."""

import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from llm_sandbox.backends.recipes import Recipe
from llm_sandbox.exceptions import BackendError
from llm_sandbox.host.terminal import strip_controls

__all__ = ["Tail", "download_command", "download_wheels", "run_child"]

_TAIL_LINES = 20
_TIDY_UP_S = 30.0


class Tail:
    """Last lines of output, for error messages."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)

    def add(self, text: str) -> None:
        """Add output of whole lines."""
        # trust: builders print text of packages and images.
        clean = (strip_controls(line).rstrip() for line in text.splitlines())
        self._lines.extend(line for line in clean if line)

    def __str__(self) -> str:
        return "\n".join(f"  | {line}" for line in self._lines)


def run_child(
    argv: Sequence[str],
    *,
    what: str,
    hint: str,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] = lambda _: None,
) -> None:
    """Run a program to its end.

    On KeyboardInterrupt, or any other exception here, it gets SIGTERM and 30 s to undo its mounts,
    before it is killed.

    Args:
        argv: The command.
        what: Purpose for the error, such as ``fetching the wheels``.
        hint: Hint of the error.
        env: Variables to add to this process's own.
        on_line: Called with each line of its output.

    Raises:
        BackendError: It did not end with status 0; the message has its last 20 lines.
    """
    tail = Tail()
    # In a session of its own, a Ctrl-C typed at the terminal reaches it through us alone, once.
    child = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(env or {})},
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        assert child.stdout is not None  # noqa: S101 - for the type checker
        for line in child.stdout:
            tail.add(line)
            on_line(line.rstrip())
        status = child.wait()
    except BaseException:
        _end(child)
        raise
    finally:
        if child.stdout is not None:
            child.stdout.close()
    if status:
        raise BackendError(
            f"{what} failed: {argv[0]} ended with status {status}\n{tail}", op="build", hint=hint
        )


def _end(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    try:
        child.wait(_TIDY_UP_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


_OLDEST_GLIBC = 17
"""Minor version of manylinux2014, the oldest glibc that wheels of today are built for."""


def download_command(
    recipe: Recipe, architecture: str, target: Path, arguments: Sequence[str] | None = None
) -> list[str]:
    """Return the pip command that downloads wheels.

    Args:
        recipe: The recipe of the image, one with a table `wheels`.
        architecture: Architecture of the image, such as ``x86_64``.
        target: An existing folder.
        arguments: Further options, and requirements; None for those of the recipe.
    """
    wheels = recipe.facts["wheels"]
    if arguments is None:
        requirements = str(recipe.folder / wheels["requirements"])
        arguments = ["--no-deps", "--require-hashes", "--requirement", requirements]
    python = str(wheels["python"])
    newest = int(str(wheels["glibc"]).split(".")[1])
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--progress-bar=off"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", str(target)]
    command += ["--python-version", python, "--implementation", "cp"]
    for abi in (f"cp{python.replace('.', '')}", "abi3", "none"):
        command += ["--abi", abi]
    # pip accepts each platform by name only; the newest first, in its own order of preference.
    for minor in range(newest, _OLDEST_GLIBC - 1, -1):
        command += ["--platform", f"manylinux_2_{minor}_{architecture}"]
    return [*command, "--platform", f"manylinux2014_{architecture}", *arguments]


def download_wheels(
    recipe: Recipe,
    architecture: str,
    target: Path,
    on_line: Callable[[str], None],
    arguments: Sequence[str] | None = None,
) -> None:
    """Download wheels into a new folder.

    Args:
        recipe: As in `download_command`, like the next two.
        architecture: See there.
        target: The folder, which is created.
        on_line: Called with each line that pip prints.
        arguments: See there.

    Raises:
        BackendError: pip failed; the message has its last lines.
    """
    target.mkdir()
    run_child(
        download_command(recipe, architecture, target, arguments),
        what=f"fetching the packages of the {recipe.name} image",
        hint="pip needs an index: see `pip config list`, PIP_INDEX_URL, PIP_CERT",
        on_line=on_line,
    )
