"""Authentication of agents: the API keys that a session needs, and their sources."""

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
    """Credentials of a session."""

    services: list[Service]
    """Services whose keys are stored."""
    codex_login: bool = False
    """Copy of the host's Codex login in the sandbox."""
    changed: bool = False
    """Renewal of a key, after which a sandbox created with the old one is unusable."""
    signs_in: bool = False
    """Origin of a key in an OAuth login."""


@dataclass(frozen=True)
class AgentAuth:
    """Key settings of a sandbox."""

    credentials: Credentials
    secret_env: Mapping[str, str]
    oauth: Sequence[str]
    oauth_refresh: Sequence[str]
    codex_from_host: bool

    def check(self, agent_id: str, timeout: float) -> None:
        """Check that the key of an agent's service is stored.

        Raises:
            SandboxError: The key is missing; the hint has the command that stores it.
        """
        service = service_of(agent_id)
        if service is None or self.credentials.has(service.name, timeout):
            return
        raise self._missing(service, f"agent {agent_id!r} needs a key of {service.name}")

    def ensure(self, service: Service, timeout: float, *, stream: bool) -> bool:
        """Ensure that the key of a service is stored: from the store, by OAuth login, or from a
        variable.

        Returns:
            Whether the key was changed.

        Raises:
            SandboxError: No key is available.
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
        """Ensure the credentials that a session needs.

        Args:
            metadata: Metadata of the session.
            timeout: Seconds for each check.
            stream: Whether the output of a login is shown.

        Raises:
            SandboxError: A key is not available.
            ValidationError: The settings of the agent are unknown.
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
        """Return the service whose stored key Codex needs; None for none."""
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
