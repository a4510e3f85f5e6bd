"""Agent commands in this library's sandboxes, with its egress gate and placeholders for keys."""

import ipaddress
import threading
from collections.abc import Sequence
from typing import Any, Literal

from llm_sandbox.adapters.sbx_agents.agent_auth import AuthOutcome
from llm_sandbox.adapters.sbx_agents.containers import ContainerRequest
from llm_sandbox.adapters.sbx_agents.credentials import Engine, credentials_of, read_codex_login
from llm_sandbox.adapters.sbx_agents.results import CommandResult
from llm_sandbox.adapters.sbx_agents.session import SandboxSession
from llm_sandbox.adapters.sbx_agents.session_state import SessionState
from llm_sandbox.backends.registry import available_names, get_backend
from llm_sandbox.exceptions import BackendUnavailableError, LaunchError, UnsupportedError
from llm_sandbox.network import Network, NetworkRules
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.secrets import Secret

__all__ = [
    "BuiltinBackend",
    "backend_of",
    "check_backend",
    "check_engine",
    "network_of",
    "resources_of",
    "run_in_session",
    "secrets_of",
]

BuiltinBackend = Literal["docker", "podman", "bubblewrap"]
"""Backends of ``engine="builtin"``."""

_COPY = "umask 077 && mkdir -p ~/.codex && cat > ~/.codex/auth.json"


def check_backend(name: object) -> object:
    """Return a backend name if agents may run on that backend.

    Raises:
        UnsupportedError: Agents may not run on the backend.
    """
    if name in ("docker", "podman", "bubblewrap") or name not in available_names():
        return name
    raise UnsupportedError(
        "DockerSbxSandbox(engine='builtin')",
        str(name),
        "its programs are not kept from this machine"
        if name == "local"
        else "it has not been tried with agents",
        hint="backend='docker', backend='podman' or backend='bubblewrap'",
    )


def backend_of(engine: Engine, backend: str | None) -> str | None:
    """Return the backend of an engine; None for Docker's ``sbx``.

    Raises:
        UnsupportedError: The engine does not have the backend.
        ValidationError: The engine is unknown.
    """
    credentials_of(engine)
    if engine == "builtin":
        return str(check_backend(backend or "docker"))
    if backend is not None:
        raise UnsupportedError(
            "backend=",
            "sbx",
            "it is of sandboxes of this library",
            hint="leave out backend=, or engine='builtin'",
        )
    return None


def check_engine(backend: str, timeout: float) -> None:
    """Check that a backend can create sandboxes on this machine.

    Raises:
        BackendUnavailableError: The backend is unavailable; the hint says what to do.
    """
    failures: list[BaseException] = []

    def look() -> None:
        try:
            get_backend(backend).check()
        except BaseException as error:  # noqa: BLE001 - raised again by who waits
            failures.append(error)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(timeout)
    if thread.is_alive():
        raise BackendUnavailableError(
            f"{backend} did not answer within {timeout} s",
            backend=backend,
            hint="llm-sandbox doctor" if backend == "bubblewrap" else f"{backend} info",
        )
    if failures:
        raise failures[0]


def resources_of(
    session: SandboxSession, allowed: Sequence[str], outcome: AuthOutcome
) -> list[str]:
    """Return the destinations that a session may connect to: the allowed ones, and those of its
    keys.

    Args:
        session: Session of the agent.
        allowed: Destinations as ``host``, ``host:port`` or an address range.
        outcome: Credentials of the session.
    """
    found = list(allowed)
    if session.metadata.get("agent_id") == "codex":
        if session.metadata.get("model_provider") in (None, "openai"):
            found.append("api.openai.com:443")
        if outcome.codex_login or outcome.signs_in:
            found.append("chatgpt.com:443")
    found += [f"{host}:443" for service in outcome.services for host in service.hosts]
    return list(dict.fromkeys(found))


def network_of(resources: Sequence[str]) -> Network:
    """Return network rules that allow these destinations only.

    Raises:
        ValidationError: A destination is invalid.
    """
    if not resources:
        return "blocked"
    cidrs = [one for one in resources if _is_address(one)]
    return NetworkRules.allow(domains=[one for one in resources if one not in cidrs], cidrs=cidrs)


def secrets_of(outcome: AuthOutcome) -> list[Secret]:
    """Return the keys of a session as placeholder secrets, which the egress gate replaces in
    requests to the service.
    """
    return [
        Secret.from_store(service.variable, "placeholder", service.hosts)
        for service in outcome.services
    ]


def run_in_session(
    state: SessionState,
    request: ContainerRequest,
    session: SandboxSession,
    command: list[str],
    *,
    outcome: AuthOutcome,
    recreate: bool,
) -> CommandResult:
    """Run a command in the sandbox of a session: its own, an existing one, or a new one.

    Raises:
        subprocess.TimeoutExpired: The timeout passed, and the command was killed.
        LaunchError: The program does not exist in the image.
        SandboxError: The sandbox could not be created.
    """
    notes: dict[str, Any] = {}
    if state.sandbox is None:
        if recreate:
            request.remove()
        found = None if recreate else request.find()
        state.is_ours = found is None
        state.sandbox = found or request.make()
    if outcome.codex_login:
        _copy_codex_login(state.sandbox)
        notes["codex_login"] = "the host's sign-in was copied into the sandbox"
    try:
        result = state.run(state.sandbox, session, command, {})
    except LaunchError as error:
        image = request.image or "of Python sessions"
        error.hint = error.hint or (
            "install it on this machine, for all users; or backend='docker' and image=..."
            if request.backend == "bubblewrap"
            else f"name an image that has it; this one is {image}: image=..."
        )
        raise
    result.metadata.update(notes)
    return result


def _copy_codex_login(sandbox: Sandbox) -> None:
    """Copy the host's Codex login into the home of a sandbox, readable by its user only.

    Raises:
        SandboxError: The host has no login.
    """
    sandbox.check("sh", "-c", _COPY, stdin=read_codex_login())


def _is_address(resource: str) -> bool:
    host = resource.rpartition(":")[0] if resource.count(":") == 1 else resource
    try:
        ipaddress.ip_network(host, strict=False)
    except ValueError:
        return False
    return True
