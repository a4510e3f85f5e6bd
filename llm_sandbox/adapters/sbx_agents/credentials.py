"""Credentials of coding agents: services, their API keys in ``sbx`` or the library's store, and the
host's Codex login.
"""

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from llm_sandbox.adapters.sbx_agents.cli import SbxCli, sbx_failure
from llm_sandbox.exceptions import SandboxError, SecurityError, UnsupportedError, ValidationError
from llm_sandbox.secrets import SecretStore

__all__ = [
    "SERVICES",
    "Credentials",
    "Engine",
    "Service",
    "credentials_of",
    "oauth_refusal",
    "read_codex_login",
    "service_named",
    "service_of",
]


@dataclass(frozen=True)
class Service:
    """Service that requires an API key."""

    name: str
    variable: str
    """Environment variable that clients of the service read the key from."""
    hosts: tuple[str, ...]
    """Hosts that the key may be sent to."""


SERVICES = {
    service.name: service
    for service in (
        Service("anthropic", "ANTHROPIC_API_KEY", ("api.anthropic.com",)),
        Service("cursor", "CURSOR_API_KEY", ("api2.cursor.sh",)),
        Service("droid", "FACTORY_API_KEY", ("api.factory.ai",)),
        Service("github", "GITHUB_TOKEN", ("api.github.com", "github.com")),
        Service("google", "GEMINI_API_KEY", ("generativelanguage.googleapis.com",)),
        Service("groq", "GROQ_API_KEY", ("api.groq.com",)),
        Service("mistral", "MISTRAL_API_KEY", ("api.mistral.ai",)),
        Service("nebius", "NEBIUS_API_KEY", ("api.studio.nebius.com",)),
        Service("openai", "OPENAI_API_KEY", ("api.openai.com",)),
        Service("xai", "XAI_API_KEY", ("api.x.ai",)),
    )
}
"""Services by name, as in Docker's ``sbx``."""

_OF_AGENTS = {"claude": "anthropic", "codex": "openai", "opencode": "anthropic"}


def service_of(agent_id: str) -> Service | None:
    """Return the service of an agent's model; None for an agent without one."""
    name = _OF_AGENTS.get(agent_id)
    return None if name is None else SERVICES[name]


def service_named(name: str, parameter: str = "service") -> Service:
    """Return a service by its name.

    Raises:
        ValidationError: The service is unknown.
    """
    found = SERVICES.get(name)
    if found is None:
        raise ValidationError(
            f"there is no service {name!r}; known: {', '.join(SERVICES)}",
            parameter=parameter,
            hint="give others by name and host: secrets=[llm_sandbox.Secret(...)]",
        )
    return found


Engine = Literal["sbx", "builtin"]
"""Engine that creates sandboxes: Docker's ``sbx``, or this library."""


class Credentials(Protocol):
    """Keys stored on this machine, by service."""

    def has(self, service: str, timeout: float) -> bool:
        """Return whether a key is stored for a service."""

    def set(self, service: str, value: str, timeout: float) -> None:
        """Store a key."""

    def sign_in(self, service: str, timeout: float, *, stream: bool) -> None:
        """Log in interactively, and store the key."""

    def commands(self, service: str) -> list[str]:
        """Return commands that store a key; each is sufficient."""


class _SbxCredentials:
    """Keys that ``sbx`` stores for all its sandboxes."""

    def __init__(self) -> None:
        self._cli = SbxCli()

    def has(self, service: str, timeout: float) -> bool:
        words = ["secret", "ls", *self._scope("secret ls")]
        by_service = self._cli.understands("secret ls", "--service")
        result = self._cli.call(
            *words, *(["--service", service] if by_service else []), timeout=timeout
        )
        if result.returncode != 0:
            raise sbx_failure(
                "listing its secrets", result, f"try it by hand: sbx {' '.join(words)}"
            )
        said = f"{result.stdout}\n{result.stderr}"
        if "no secrets found" in said.lower():
            return False
        return any(service in line.split() for line in said.splitlines())

    def set(self, service: str, value: str, timeout: float) -> None:
        # By standard input: what stands on a command line can be read by everybody here.
        words = ["secret", "set", *self._scope("secret set"), service]
        result = self._cli.call(*words, given=value, timeout=timeout)
        if result.returncode != 0:
            raise sbx_failure(
                f"keeping the key of {service}", result, f"by hand: {self.commands(service)[0]}"
            )

    def sign_in(self, service: str, timeout: float, *, stream: bool) -> None:
        if not self._cli.understands("secret set", "--oauth"):
            raise UnsupportedError(
                f"signing in to {service}",
                "sbx",
                "this version of it has no --oauth",
                hint="secret_env={...: ...}, or a newer sbx",
            )
        words = ["secret", "set", *self._scope("secret set"), service, "--oauth"]
        result = self._cli.follow(words, timeout=timeout, stream=stream, line_filter=None)
        if result.returncode != 0:
            raise sbx_failure(f"signing in to {service}", result, f"by hand: sbx {' '.join(words)}")

    def commands(self, service: str) -> list[str]:
        scope = " ".join(self._scope("secret set"))
        first = " ".join(f"sbx secret set {scope} {service}".split())
        has_oauth = self._cli.understands("secret set", "--oauth") and service == "openai"
        return [first, f"{first} --oauth"] if has_oauth else [first]

    def _scope(self, verb: str) -> list[str]:
        # Newer versions keep keys for all sandboxes unless told otherwise.
        return ["-g"] if self._cli.understands(verb, "-g") else []


class _StoreCredentials:
    """Keys in this user's secret store, by environment variable."""

    def has(self, service: str, timeout: float) -> bool:
        del timeout  # it is a file
        variable = service_named(service).variable
        return any(entry.name == variable for entry in SecretStore().list())

    def set(self, service: str, value: str, timeout: float) -> None:
        del timeout
        if not value:
            raise ValidationError(f"the key of {service} is empty", parameter="value")
        SecretStore().set(service_named(service).variable, value)

    def sign_in(self, service: str, timeout: float, *, stream: bool) -> None:
        raise oauth_refusal(f"signing in to {service}")

    def commands(self, service: str) -> list[str]:
        return [f"llm-sandbox secret set {service_named(service).variable}"]


def oauth_refusal(feature: str) -> UnsupportedError:
    """Return the error for an OAuth login, which only Docker's ``sbx`` supports."""
    return UnsupportedError(
        feature,
        "builtin",
        "the sign-in of a service is Docker's own",
        hint="secret_env={'openai': 'OPENAI_API_KEY'}, or engine='sbx'",
    )


def credentials_of(engine: Engine) -> Credentials:
    """Return the key store of an engine.

    Raises:
        ValidationError: The engine is unknown.
    """
    if engine == "sbx":
        return _SbxCredentials()
    if engine == "builtin":
        return _StoreCredentials()
    raise ValidationError(f"engine is 'sbx' or 'builtin', not {engine!r}", parameter="engine")


_LARGEST = 1 << 20


def read_codex_login() -> bytes:
    """Return the content of the Codex login file for ChatGPT, ``auth.json`` in ``$CODEX_HOME`` or
    ``~/.codex``.

    Raises:
        SandboxError: The file does not exist, or holds another kind of login.
        SecurityError: The file does not belong to this user.
    """
    base = os.environ.get("CODEX_HOME", "")
    path = (Path(base) if base.startswith("/") else Path.home() / ".codex") / "auth.json"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise SandboxError(
            f"{path} cannot be read: {os.strerror(error.errno or 0)}",
            op="prepare",
            hint="sign in on this machine first: codex login",
        ) from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise SecurityError(f"{path} is not a regular file owned by this user", op="prepare")
        data = file.read(_LARGEST + 1)
    try:
        content = json.loads(data)
    except ValueError:
        content = None  # its text is not repeated: it may hold a token
    if len(data) > _LARGEST or not isinstance(content, dict):
        raise SandboxError(
            f"{path} is not a JSON object",
            op="prepare",
            hint="sign in anew on this machine: codex logout && codex login",
        )
    if content.get("auth_mode") != "chatgpt":
        raise SandboxError(
            f"{path} is of another kind than a ChatGPT sign-in",
            op="prepare",
            hint="sign in with ChatGPT on this machine: codex login",
        )
    return data
