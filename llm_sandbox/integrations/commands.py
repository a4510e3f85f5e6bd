"""Command lines of an agent, as its model is told of them."""

from dataclasses import replace

from anyio import CancelScope, get_cancelled_exc_class

from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.data import ProcessResult
from llm_sandbox.sandbox import Sandbox

__all__ = ["MOST_CHARS", "run_command", "run_command_async"]

MOST_CHARS = 100_000
"""Characters of what a command line writes that are kept: half of the start, half of the end."""


def run_command(sandbox: Sandbox, command: str, seconds: float | None) -> ProcessResult:
    """Run a command line in a shell, and return how it ended and all that it wrote.

    Args:
        sandbox: Where.
        command: For ``sh -c``.
        seconds: Until it is killed; None for no limit.

    Returns:
        Its result, with both streams, in the order in which they were written, as `stdout`, and
        with a last line where the time was up.

    Raises:
        SandboxError: The sandbox itself failed.
    """
    process = sandbox.exec("sh", "-c", command, timeout=seconds, stderr="stdout")
    return _told(process.collect(MOST_CHARS, keep="both"), seconds)


async def run_command_async(
    sandbox: AsyncSandbox, command: str, seconds: float | None
) -> ProcessResult:
    """As `run_command`; cancelling the task ends the command, with everything that it started."""
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
