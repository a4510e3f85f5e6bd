"""Where the keys of services are kept: by Docker's ``sbx``, or in this library's own store."""

from typing import Literal, Protocol

from llm_sandbox.adapters.sbx_agents.cli import SbxCli, sbx_failure
from llm_sandbox.adapters.sbx_agents.services import service_named
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.secrets import SecretStore

__all__ = [
    "Credentials",
    "Engine",
    "credentials_of",
    "oauth_refusal",
]

Engine = Literal["sbx", "builtin"]
"""What sandboxes are made by: Docker's program, or this library."""


class Credentials(Protocol):
    """The keys that are kept on this machine, by service."""

    def has(self, service: str, timeout: float) -> bool:
        """Whether there is one for a service."""

    def set(self, service: str, value: str, timeout: float) -> None:
        """Keep one."""

    def sign_in(self, service: str, timeout: float, *, stream: bool) -> None:
        """Have a person sign in, and keep what comes of it."""

    def commands(self, service: str) -> list[str]:
        """What to type to keep one; any of these."""


class _SbxCredentials:
    """The keys that ``sbx`` keeps for all its sandboxes."""

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
    """The keys in this user's store, each by the variable that its clients read."""

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
    """An error for what only Docker's program can do."""
    return UnsupportedError(
        feature,
        "builtin",
        "the sign-in of a service is Docker's own",
        hint="secret_env={'openai': 'OPENAI_API_KEY'}, or engine='sbx'",
    )


def credentials_of(engine: Engine) -> Credentials:
    """Return where an engine has its keys.

    Raises:
        ValidationError: There is no such engine.
    """
    if engine == "sbx":
        return _SbxCredentials()
    if engine == "builtin":
        return _StoreCredentials()
    raise ValidationError(f"engine is 'sbx' or 'builtin', not {engine!r}", parameter="engine")
