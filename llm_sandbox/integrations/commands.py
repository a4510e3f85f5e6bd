"""Shell command lines of agents, with output limited for a model."""

from dataclasses import replace

from anyio import CancelScope, get_cancelled_exc_class

from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.data import ProcessResult
from llm_sandbox.sandbox import Sandbox

__all__ = ["MOST_CHARS", "run_command", "run_command_async"]

MOST_CHARS = 100_000
"""Maximum characters of output that are kept: half from the start, half from the end."""


def run_command(sandbox: Sandbox, command: str, seconds: float | None) -> ProcessResult:
    """Run a command line in a shell, and return the result.

    Args:
        sandbox: Sandbox to run in.
        command: Command line for ``sh -c``.
        seconds: Seconds until the command is killed; None for no limit.

    Returns:
        The result, with both streams merged in `stdout`, and a last line if the timeout passed.

    Raises:
        SandboxError: The sandbox itself failed.
    """
    process = sandbox.exec("sh", "-c", command, timeout=seconds, stderr="stdout")
    return _told(process.collect(MOST_CHARS, keep="both"), seconds)


async def run_command_async(
    sandbox: AsyncSandbox, command: str, seconds: float | None
) -> ProcessResult:
    """Run a command line, like `run_command`; cancellation kills the command and its children."""
    process = await sandbox.exec("sh", "-c", command, timeout=seconds, stderr="stdout")
    try:
        return _told(await process.collect(MOST_CHARS, keep="both"), seconds)
    except get_cancelled_exc_class():
        with CancelScope(shield=True):
            await process.kill()
        raise


def _told(done: ProcessResult, seconds: float | None) -> ProcessResult:
    if not done.timed_out:
        return done
    words = f"{done.stdout}\nIt did not end in {seconds:g} seconds, and was killed."
    return replace(done, stdout=words.lstrip("\n"))
