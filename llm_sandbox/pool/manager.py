"""Pool with the calls of the reference: `acquire`, `release`, `get_stats`, `PoolConfig`."""

from collections.abc import Mapping
from typing import Any

from llm_sandbox.backends.base import Backend
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.pool.bounds import PoolBounds
from llm_sandbox.pool.config import ExhaustionStrategy, PoolConfig
from llm_sandbox.pool.member import ContainerState, PooledContainer
from llm_sandbox.pool.preparation import Preparation
from llm_sandbox.pool.sandbox_pool import SandboxPool
from llm_sandbox.pool.stock import Ticket
from llm_sandbox.session.config import SessionConfig

__all__ = ["ContainerPoolManager", "ContainerState", "PooledContainer", "create_pool_manager"]


class ContainerPoolManager(SandboxPool):
    """Pool of warm sessions with the settings of the reference; see `SandboxPool`.

    Args:
        client: For a container backend: client of its engine; None for the default.
        config: Settings of the pool; None for the defaults.
        lang: Language of the code.
        **session: Other arguments of `create_session`, such as ``backend``, ``image``,
            ``libraries``, ``limits``, ``network``, for all sandboxes of the pool.

    Raises:
        UnsupportedError: An option would let sessions share a sandbox.
        SandboxError: Such sandboxes cannot be created; see `create_session`.
    """

    def __init__(
        self,
        client: object = None,
        config: PoolConfig | None = None,
        lang: str = SupportedLanguage.PYTHON,
        **session: Any,
    ) -> None:
        self.config = config or PoolConfig()
        options = {"client": client, "lang": lang, **session}
        self._set_up(_bounds_of(self.config), Preparation(), options)

    @property
    def client(self) -> object:
        """Client of the engine; None on backends without containers."""
        return self._pattern.client if self._pattern._backend.has_containers else None

    def acquire(self) -> PooledContainer:
        """Acquire a fresh sandbox; `release` ends it.

        Raises:
            PoolExhaustedError: All sandboxes are in use, and none was released in time.
            PoolCreationError: A sandbox could not be created; its ``__cause__`` says why.
            PoolClosedError: The pool is closed.
        """
        return self._stock.claim(Ticket(), self._timeout)

    def release(self, container: PooledContainer) -> None:
        """Release and end a sandbox; no effect if it is not in use."""
        self._stock.release(container)

    def admit(
        self, given: Mapping[str, Any]
    ) -> tuple[SessionConfig, Backend, str, AbstractLanguageHandler]:
        """Return the configuration of a session of the pool.

        Args:
            given: Arguments of the session by name.

        Raises:
            ValidationError: An argument does not match the sandboxes of the pool.
        """
        return self._admit(given)

    def get_stats(self) -> dict[str, Any]:
        """Return sizes, number of sandboxes in each state, and whether the pool is closed.

        The keys are ``total_size, max_size, min_size, state_counts, closed``.
        """
        counts = self._stock.states()
        return {
            "total_size": sum(counts.values()),
            "max_size": self.config.max_pool_size,
            "min_size": self.config.min_pool_size,
            "state_counts": {str(state): count for state, count in counts.items()},
            "closed": self.metrics.closed,
        }


def create_pool_manager(
    client: object = None,
    backend: SandboxBackend | str | Backend | None = None,
    config: PoolConfig | None = None,
    lang: str = SupportedLanguage.PYTHON,
    **session: Any,
) -> ContainerPoolManager:
    """Return a new pool; see `ContainerPoolManager`.

    Args:
        client: For a container backend: client of its engine; None for the default.
        backend: Backend; None for the strongest that works.
        config: Settings of the pool; None for the defaults.
        lang: Language of the code.
        **session: Other arguments of `create_session`.

    Raises:
        UnsupportedBackendError: The backend is unknown.
    """
    return ContainerPoolManager(client, config, lang, backend=backend, **session)


def _bounds_of(config: PoolConfig) -> PoolBounds:
    strategy = config.exhaustion_strategy
    # Nobody has used a ready sandbox, so that its idle time is its age.
    ages = (config.idle_timeout, config.max_container_lifetime)
    size = config.min_pool_size if config.enable_prewarming else 0
    return PoolBounds(
        size=size,
        min_size=size,
        max_sessions=config.max_pool_size,
        max_waiting=0 if strategy is ExhaustionStrategy.FAIL_FAST else None,
        claim_timeout=config.acquisition_timeout,
        idle=None,
        max_age=min((age for age in ages if age is not None), default=None),
        check_interval=config.health_check_interval,
        overflow=strategy is ExhaustionStrategy.TEMPORARY,
        hint="close a session, or raise max_pool_size",
    )
