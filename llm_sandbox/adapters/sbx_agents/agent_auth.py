"""Which keys a turn needs, and having them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm_sandbox.adapters.sbx_agents.credentials import (
    Credentials,
    Service,
    service_named,
    service_of,
)
from llm_sandbox.exceptions import SandboxError, ValidationError

__all__ = ["AgentAuth", "AuthOutcome"]

_SIGN_IN_S = 120.0


@dataclass
class AuthOutcome:
    """What a turn has to identify itself by."""

    services: list[Service]
    """Those whose keys are kept."""
    codex_login: bool = False
    """Whether the host's own sign-in of Codex is copied in."""
    changed: bool = False
    """Whether a key was renewed, so that a sandbox that was made with the old one is of no use."""
    signs_in: bool = False
    """Whether a key is that of a person's sign-in."""


@dataclass(frozen=True)
class AgentAuth:
    """What a sandbox was told of keys."""

    credentials: Credentials
    secret_env: Mapping[str, str]
    oauth: Sequence[str]
    oauth_refresh: Sequence[str]
    codex_from_host: bool

    def check(self, agent_id: str, timeout: float) -> None:
        """Make sure that the key of an agent's service is kept.

        Raises:
            SandboxError: It is not; the hint says what to type.
        """
        service = service_of(agent_id)
        if service is None or self.credentials.has(service.name, timeout):
            return
        raise self._missing(service, f"agent {agent_id!r} needs a key of {service.name}")

    def ensure(self, service: Service, timeout: float, *, stream: bool) -> bool:
        """Have the key of a service kept: as it is, else by signing in, else from a variable.

        Returns:
            Whether it was changed.

        Raises:
            SandboxError: There is none to be had.
        """
        name = service.name
        if name in self.oauth_refresh:
            self.credentials.sign_in(name, _SIGN_IN_S, stream=stream)
            return True
        if self.credentials.has(name, timeout):
            return False
        if name in self.oauth:
            self.credentials.sign_in(name, _SIGN_IN_S, stream=stream)
            return True
        variable = self.secret_env.get(name)
        if variable is None:
            raise self._missing(service, f"a key of {name} is needed")
        self._keep(service, variable, timeout)
        return True

    def apply(self, metadata: Mapping[str, Any], timeout: float, *, stream: bool) -> AuthOutcome:
        """Have what a turn needs.

        Args:
            metadata: The session's.
            timeout: Seconds for each look.
            stream: Whether a sign-in is shown.

        Raises:
            SandboxError: A key is not to be had.
            ValidationError: The agent's own settings are not known.
        """
        outcome = AuthOutcome([])
        agent_id = str(metadata.get("agent_id", ""))
        wanted = [service_named(name, "secret_env") for name in self.secret_env]
        own = service_of(agent_id)
        if agent_id == "codex":
            own = self._of_codex(metadata, outcome, timeout, stream=stream)
        for service in {s.name: s for s in (*wanted, *([own] if own else ()))}.values():
            outcome.services.append(service)
            if not outcome.signs_in or service is not own:
                changed = self.ensure(service, timeout, stream=stream)
                outcome.changed = outcome.changed or changed
        outcome.signs_in = outcome.signs_in or bool({*self.oauth, *self.oauth_refresh})
        return outcome

    def _of_codex(
        self, metadata: Mapping[str, Any], outcome: AuthOutcome, timeout: float, *, stream: bool
    ) -> Service | None:
        """The service whose kept key Codex needs; None for none."""
        auth = metadata.get("backend_auth")
        if auth is None:
            outcome.codex_login = self.codex_from_host
            by_openai = metadata.get("model_provider") in (None, "openai")
            return service_of("codex") if by_openai and not self.codex_from_host else None
        method = getattr(auth, "method", None)
        outcome.codex_login = self.codex_from_host or method == "host_chatgpt"
        if method in ("none", "host_chatgpt"):
            return None
        service = service_named(str(getattr(auth, "service", "openai")))
        refresh = bool(getattr(auth, "refresh", False))
        if method == "openai_oauth":
            if refresh or not self.credentials.has(service.name, timeout):
                self.credentials.sign_in(service.name, _SIGN_IN_S, stream=stream)
                outcome.changed = True
            outcome.signs_in = True
            return service
        if method == "openai_api_key_env":
            if refresh or not self.credentials.has(service.name, timeout):
                named = getattr(auth, "env_var", None) or self.secret_env.get(service.name)
                self._keep(service, str(named or service.variable), timeout)
                outcome.changed = True
            return service
        raise ValidationError(
            f"the agent's auth is of method {method!r}, which is not known here", parameter="auth"
        )

    def _keep(self, service: Service, variable: str, timeout: float) -> None:
        value = os.environ.get(variable)
        if not value:
            raise self._missing(
                service,
                f"a key of {service.name} is to come from {variable}, which is not set here",
                f"export {variable}=...",
            )
        self.credentials.set(service.name, value, timeout)

    def _missing(self, service: Service, why: str, *more: str) -> SandboxError:
        ways = [*more, *self.credentials.commands(service.name)]
        return SandboxError(
            why, op="authenticate", hint="\nor: ".join(ways), context={"service": service.name}
        )
