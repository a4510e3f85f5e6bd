"""Why a program did not start, as an error."""

from collections.abc import Mapping
from typing import Any

from llm_sandbox.backends.base import ProcessSpec
from llm_sandbox.exceptions import LaunchError, SandboxError, UnsupportedError

__all__ = ["launch_error"]

_WORDS = {
    "not_found": "there is no such program in the sandbox",
    "not_executable": "it cannot be executed",
    "bad_cwd": "its working directory cannot be entered",
}


def launch_error(
    spec: ProcessSpec, workdir: str, backend: str, report: Mapping[str, Any]
) -> SandboxError:
    """Return what to raise.

    Args:
        spec: The program.
        workdir: Its working directory, where it was given none.
        backend: Name for the message.
        report: ``kind`` and ``message``, as `guest.launch` wrote them.
    """
    kind = report["kind"]
    if kind == "no_terminal":
        return UnsupportedError("pty", backend, report["message"])
    words = _WORDS.get(kind, report["message"])
    subject = (spec.cwd or workdir) if kind == "bad_cwd" else spec.argv[0]
    return LaunchError(f"{subject!r} did not start: {words}", kind=kind, op="exec")
