"""Where awaitable sessions come from: `create_session`, `attach_session`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llm_sandbox import create
from llm_sandbox.aio.session import AsyncSession
from llm_sandbox.aio.threads import in_thread
from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.limits import LimitOptions, Limits, Size
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network
from llm_sandbox.session.config import Start

if TYPE_CHECKING:
    from llm_sandbox.pool import ContainerPoolManager
    from llm_sandbox.sandbox.detached.record import OnExit
    from llm_sandbox.secrets import Secret
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.session.lock import Busy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["attach_session", "create_session"]


def create_session(
    backend: SandboxBackend | str | Backend | None = None,
    image: str | None = None,
    dockerfile: str | None = None,
    lang: str = SupportedLanguage.PYTHON,
    *,
    keep_template: bool = False,
    commit_container: bool = False,
    verbose: bool = False,
    stream: bool = False,
    runtime_configs: Mapping[str, Any] | None = None,
    workdir: str | None = "/sandbox",
    enable_plotting: bool = True,
    security_policy: "SecurityPolicy | None" = None,
    default_timeout: float | None = None,
    execution_timeout: float | None = None,
    session_timeout: float | None = None,
    container_id: str | None = None,
    client: object = None,
    commit_image_tag: str | None = None,
    mounts: Mapping[str, Mount] | Sequence[Any] = (),
    allow_unsafe: Sequence[str] = (),
    environment: str | None = None,
    libraries: Sequence[str] = (),
    skip_environment_setup: bool = False,
    env: Mapping[str, str] | None = None,
    env_vars: Mapping[str, str] | None = None,
    secrets: "Mapping[str, str] | Sequence[Secret] | None" = None,
    limits: Limits | LimitOptions | None = None,
    memory: Size | None = None,
    cpus: float | None = None,
    network: Network = "blocked",
    persistent: bool = True,
    start: Start = "warm",
    observers: "Sequence[RunObserver]" = (),
    name: str | None = None,
    on_exit: "OnExit" = "destroy",
    idle_timeout: float | None = None,
    pool: "ContainerPoolManager | None" = None,
    encoding_errors: str | None = None,
    busy: "Busy" = "wait",
) -> AsyncSession:
    """Return a new session; use it in an async with block, or await `open` and `close`.

    The arguments and errors are those of `llm_sandbox.create_session`. The first call that names no
    backend tests, in this thread, which one works here; that takes a fraction of a second, once.
    """
    given = locals()
    return AsyncSession(create.create_session(**given))


async def attach_session(
    name_or_id: str, *, observers: "Sequence[RunObserver]" = (), verbose: bool = False
) -> AsyncSession:
    """Go on with a session that is kept; see `llm_sandbox.attach_session`.

    Cancelled, it lets go of the session.
    """
    return AsyncSession(
        await in_thread(
            lambda _: create.attach_session(name_or_id, observers=observers, verbose=verbose),
            undo=lambda session: session.detach(),
        )
    )
