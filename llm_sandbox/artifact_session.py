"""The session class that is named for what it captures."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.selection import resolve
from llm_sandbox.const import SandboxBackend, SupportedLanguage
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.limits import Limits
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network
from llm_sandbox.sandbox.delivery import check_secrets
from llm_sandbox.secrets.plan import plan_secrets
from llm_sandbox.secrets.secret import Secret
from llm_sandbox.session.config import SessionConfig, Start, settle
from llm_sandbox.session.runtime_configs import container_option
from llm_sandbox.session.session import BaseSession
from llm_sandbox.session.turn import Busy

if TYPE_CHECKING:
    from llm_sandbox.security import SecurityPolicy
    from llm_sandbox.telemetry import RunObserver

__all__ = ["ArtifactSandboxSession"]


class ArtifactSandboxSession(BaseSession):
    """A session that captures what code draws; see `create_session` for the arguments.

    Every session does; this class is the name that asks for it.

    Args:
        enable_plotting: Whether `ExecutionResult.plots` is filled.
    """

    def __init__(
        self,
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
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | None = None,
        limits: Limits | None = None,
        network: Network = "blocked",
        persistent: bool = True,
        start: Start = "warm",
        observers: "Sequence[RunObserver]" = (),
        busy: Busy = "wait",
    ) -> None:
        del stream  # results stream to callbacks and are collected, always
        handler = LanguageHandlerFactory.create_handler(lang)
        asked = {
            "image": image,
            "dockerfile": dockerfile,
            "container_id": container_id,
            "keep_template": keep_template,
            "commit_container": commit_container,
            "commit_image_tag": commit_image_tag,
            "mounts": mounts or (),
            "allow_unsafe": allow_unsafe,
            "environment": environment,
        }
        chosen, reason = resolve(
            *(backend, handler.name, handler.toolchain),
            option=container_option(asked, runtime_configs, client),
            image=image,
            client=client,
        )
        plan = plan_secrets(secrets)
        check_secrets(plan, network, chosen.name)
        config = SessionConfig(
            lang=lang,
            workdir=workdir or "/sandbox",
            limits=limits or Limits(),
            network=network,
            env=dict(env or {}),
            secrets=plan,
            libraries=tuple(libraries),
            persistent=persistent,
            start=start,
            enable_plotting=enable_plotting,
            security_policy=security_policy,
            default_timeout=default_timeout,
            execution_timeout=execution_timeout,
            session_timeout=session_timeout,
            verbose=verbose,
            observers=observers,
            busy=busy,
        )
        chosen, config = settle(chosen, config, asked, runtime_configs, client)
        super().__init__(config, chosen, reason, handler)
