"""SessionStates of agents in our own containers, with our gate and placeholders for keys."""

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
"""What sandboxes of ``engine="builtin"`` are made by."""

_COPY = "umask 077 && mkdir -p ~/.codex && cat > ~/.codex/auth.json"


def check_backend(name: object) -> object:
    """Return what was named as a backend, unless that is one which agents are not given to.

    Raises:
        UnsupportedError: It is.
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
    """Return the backend that is asked about; None for Docker's program.

    Raises:
        UnsupportedError: It means nothing with that engine, or is not to be had.
        ValidationError: There is no such engine.
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
    """Make sure that sandboxes can be made by a backend here.

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
            f"{backend} did not answer within {timeout} s",
            backend=backend,
            hint="llm-sandbox doctor" if backend == "bubblewrap" else f"{backend} info",
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


def run_in_session(
    state: SessionState,
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
