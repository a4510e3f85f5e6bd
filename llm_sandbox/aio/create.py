"""Factory of awaitable sessions: `create_session`, `attach_session`."""

from collections.abc import Sequence  # noqa: TC003 - get_type_hints reads it
from typing import TYPE_CHECKING, Unpack

from llm_sandbox import create
from llm_sandbox.aio.session import AsyncSession
from llm_sandbox.aio.threads import in_thread
from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.create import SessionOptions, same_parameters

if TYPE_CHECKING:
    from llm_sandbox.telemetry import RunObserver

__all__ = ["attach_session", "create_session"]


@same_parameters(create.create_session)
def create_session(
    backend: SandboxBackend | str | Backend | None = None,
    image: str | None = None,
    dockerfile: str | None = None,
    lang: str = SupportedLanguage.PYTHON,
    **options: Unpack[SessionOptions],
) -> AsyncSession:
    """Return a new session; use it in an async with block, or await `open` and `close`.

    The arguments and errors are those of `llm_sandbox.create_session`. The first call that names no
    backend tests in this thread which one works here; that takes a fraction of a second, once.
    """
    return AsyncSession(create.create_session(backend, image, dockerfile, lang, **options))


async def attach_session(
    name_or_id: str, *, observers: "Sequence[RunObserver]" = (), verbose: bool = False
) -> AsyncSession:
    """Attach to a detached session; see `llm_sandbox.attach_session`.

    Cancelled, it detaches from the session.
    """
    return AsyncSession(
        await in_thread(
            lambda _: create.attach_session(name_or_id, observers=observers, verbose=verbose),
            undo=lambda session: session.detach(),
        )
    )
