"""Turns of agents in our own containers, with our gate and placeholders for keys."""

import hashlib
import ipaddress
import threading
from collections.abc import Sequence
from typing import Any

from llm_sandbox.adapters.sbx_agents.agent_auth import AuthOutcome
from llm_sandbox.adapters.sbx_agents.containers import ContainerRequest
from llm_sandbox.adapters.sbx_agents.host_login import read_codex_login
from llm_sandbox.adapters.sbx_agents.results import CommandResult
from llm_sandbox.adapters.sbx_agents.session import SandboxSession
from llm_sandbox.adapters.sbx_agents.turns import Turn
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError, LaunchError
from llm_sandbox.network import Network, NetworkRules
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.secrets import Secret, SecretStore

__all__ = ["check_engine", "network_of", "resources_of", "run_turn", "secrets_of", "stamp_of"]

_COPY = "umask 077 && mkdir -p ~/.codex && cat > ~/.codex/auth.json"


def check_engine(backend: str, timeout: float) -> None:
    """Make sure that containers can be made here.

    Raises:
        BackendUnavailableError: They cannot; the hint says what to do.
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
            f"the {backend} engine did not answer within {timeout} s",
            backend=backend,
            hint=f"{backend} info",
        )
    if failures:
        raise failures[0]


def resources_of(
    session: SandboxSession, allowed: Sequence[str], outcome: AuthOutcome
) -> list[str]:
    """Return what a turn may connect to: what it was allowed, and where its keys may go.

    Args:
        session: The turn.
        allowed: ``host``, ``host:port`` or a range of addresses, each.
        outcome: What it has to identify itself by.
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
    """Return the network of a sandbox that may connect to these, and to nothing else.

    Raises:
        ValidationError: One cannot be read.
    """
    if not resources:
        return "blocked"
    cidrs = [one for one in resources if _is_address(one)]
    return NetworkRules.allow(domains=[one for one in resources if one not in cidrs], cidrs=cidrs)


def secrets_of(outcome: AuthOutcome) -> list[Secret]:
    """Return the keys of a turn as placeholders: programs hold a word that means nothing, for which
    the gate puts the key into requests to the service.
    """
    return [
        Secret.from_store(service.variable, "placeholder", service.hosts)
        for service in outcome.services
    ]


def stamp_of(outcome: AuthOutcome) -> str:
    """Return what differs when a key of the turn was set anew; it tells nothing of the key."""
    names = {service.variable for service in outcome.services}
    kept = [(one.name, one.changed_at) for one in SecretStore().list() if one.name in names]
    return hashlib.sha256(repr(kept).encode()).hexdigest()[:16] if kept else ""


def run_turn(
    turn: Turn,
    request: ContainerRequest,
    session: SandboxSession,
    command: list[str],
    *,
    outcome: AuthOutcome,
    recreate: bool,
) -> CommandResult:
    """Run a command in the turn's sandbox: the one it has, else one that is there, else a new one.

    Raises:
        subprocess.TimeoutExpired: It did not end in time, and was killed inside.
        LaunchError: The image has no such program.
        SandboxError: The sandbox could not be made.
    """
    notes: dict[str, Any] = {}
    if turn.sandbox is None:
        if recreate:
            request.remove()
        found = None if recreate else request.find()
        turn.is_ours = found is None
        turn.sandbox = found or request.make()
    if outcome.codex_login:
        _copy_codex_login(turn.sandbox)
        notes["codex_login"] = "the host's sign-in was copied into the sandbox"
    try:
        result = turn.run(turn.sandbox, session, command, {})
    except LaunchError as error:
        image = request.image or "of Python sessions"
        error.hint = error.hint or f"name an image that has it; this one is {image}: image=..."
        raise
    result.metadata.update(notes)
    return result


def _copy_codex_login(sandbox: Sandbox) -> None:
    """Copy the host's own sign-in of Codex into the home of a sandbox, for its one user to read.

    Raises:
        SandboxError: There is none here.
    """
    sandbox.check("sh", "-c", _COPY, stdin=read_codex_login())


def _is_address(resource: str) -> bool:
    host = resource.rpartition(":")[0] if resource.count(":") == 1 else resource
    try:
        ipaddress.ip_network(host, strict=False)
    except ValueError:
        return False
    return True
