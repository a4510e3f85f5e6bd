"""``inspect sandbox cleanup llm_sandbox``: what killed evaluations left in container engines."""

from functools import partial

from anyio import to_thread

from llm_sandbox.cli.sandboxes import gc, stop

__all__ = ["clean_up"]


async def clean_up(sandbox_id: str | None) -> None:
    """End sandboxes, and print which.

    Sandboxes of other backends are processes that end with their evaluation.

    Args:
        sandbox_id: The one to end, whoever uses it; None for those that no living process owns.

    Raises:
        ValueError: There is no such sandbox.
    """
    try:
        if sandbox_id is None:
            await to_thread.run_sync(partial(gc, verbose=True))
        else:
            await to_thread.run_sync(stop, [sandbox_id])
    except SystemExit as ended:
        if ended.code:
            raise ValueError(f"the cleanup of {sandbox_id or 'sandboxes'} failed") from None
