"""Delivery of secrets to a sandbox: variables, files, and placeholders for the gate."""

import secrets
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.secrets.names import check_name
from llm_sandbox.secrets.secret import MEMORY, Secret

__all__ = [
    "AUTHORITY",
    "BUNDLE",
    "Binding",
    "SecretFile",
    "SecretPlan",
    "make_placeholder",
    "plan_secrets",
]

_FOLDER = f"{MEMORY}/secrets"
AUTHORITY = f"{MEMORY}/llm-sandbox-authority.pem"
"""Path of the certificate of the authority that signs for bound hosts in one sandbox."""
BUNDLE = f"{MEMORY}/llm-sandbox-certificates.pem"
"""Path of that certificate together with the default trusted ones."""
_CERTIFICATES = {
    "SSL_CERT_FILE": BUNDLE,
    "REQUESTS_CA_BUNDLE": BUNDLE,
    "CURL_CA_BUNDLE": BUNDLE,
    "GIT_SSL_CAINFO": BUNDLE,
    "PIP_CERT": BUNDLE,
    # Node adds it to its own.
    "NODE_EXTRA_CA_CERTS": AUTHORITY,
}


@dataclass(frozen=True)
class Binding:
    """Placeholder, and the value that the gate puts in its place."""

    name: str
    """Name of the secret."""
    hosts: tuple[str, ...]
    """Hosts as ``name:port/prefix``."""
    query: tuple[str, ...]
    """Query fields in which the placeholder is replaced, in addition to headers."""
    placeholder: str = field(repr=False)
    value: str = field(repr=False)


@dataclass(frozen=True)
class SecretFile:
    """File in the sandbox's memory file system."""

    path: str
    value: str = field(repr=False)


@dataclass(frozen=True)
class SecretPlan:
    """Plan of delivery for the secrets of a sandbox or a program."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables: values, placeholders, and paths of files."""
    files: tuple[SecretFile, ...] = ()
    bindings: tuple[Binding, ...] = ()
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """Values that no message may show, longest first."""


def plan_secrets(
    given: "Mapping[str, str] | Sequence[Secret] | SecretPlan | None",
    parameter: str = "secrets",
    *,
    apart: bool = False,
) -> SecretPlan:
    """Return the plan of delivery for secrets.

    Args:
        given: Values by name, to deliver as variables; or secrets; or an existing plan.
        parameter: Parameter name for errors.
        apart: Whether files get a separate folder, to avoid conflicts of names.

    Raises:
        ValidationError: The type is wrong, or a name is invalid or not unique.
    """
    if isinstance(given, SecretPlan):
        return given
    folder = f"{_FOLDER}/{secrets.token_hex(8)}" if apart else _FOLDER
    env: dict[str, str] = {}
    files: list[SecretFile] = []
    bindings: list[Binding] = []
    listed = _listed(given, parameter)
    env.update((name, "") for name in listed if isinstance(name, str))
    found = [one for one in listed if isinstance(one, Secret)]
    for secret in found:
        name, value = secret.name, secret.reveal()
        variable = f"{name}_FILE" if secret.delivery == "file" else name
        if variable in env:
            raise ValidationError(f"{parameter} has {variable} twice", parameter=parameter)
        if secret.delivery == "file":
            files.append(SecretFile(secret.path or f"{folder}/{name}", value))
            env[variable] = files[-1].path
        elif secret.delivery == "placeholder":
            placeholder = make_placeholder(value)
            bindings.append(Binding(name, secret.hosts, secret.query, placeholder, value))
            env[variable] = placeholder
        else:
            env[variable] = value
    hidden = sorted({one.reveal() for one in found}, key=lambda value: -len(value))
    certificates = _CERTIFICATES if bindings else {}
    return SecretPlan({**certificates, **env}, tuple(files), tuple(bindings), tuple(hidden))


def _listed(given: object, parameter: str) -> list[Secret | str]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [_of_variable(name, value, parameter) for name, value in given.items()]
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        for one in given:
            if not isinstance(one, Secret):
                raise ValidationError(
                    f"{parameter} lists Secret(name, value), not {type(one).__name__}",
                    parameter=parameter,
                )
        return list(given)
    raise ValidationError(
        f"{parameter} is a mapping of names to values, or a list of Secret(name, value)",
        parameter=parameter,
    )


def _of_variable(name: object, value: object, parameter: str) -> Secret | str:
    """Return the secret of a variable; only its name if it is empty, which is refused."""
    checked = check_name(name, parameter)
    if value == "":
        return checked
    try:
        return Secret(checked, value)  # type: ignore[arg-type]
    except ValidationError as error:
        raise ValidationError(error.message, parameter=parameter) from None


_KINDS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_LONGEST_PREFIX = 12
_MADE_UP = 20
"""Minimum number of random characters, to prevent guesses and accidental matches."""


def make_placeholder(value: str) -> str:
    """Return a random word with the length and character classes of the value, and its prefix if
    that only states the kind of key (``sk-``, ``ghp_``); a longer word if the value is too short
    for a unique one.
    """
    prefix = _prefix(value)
    rest = value[len(prefix) :]
    if sum(character in "".join(_KINDS) for character in rest) < _MADE_UP:
        return f"PLACEHOLDER{secrets.token_hex(_MADE_UP // 2)}"
    return prefix + "".join(map(_other, rest))


def _prefix(value: str) -> str:
    """Return the prefix with the kind of key: short words that end with ``-`` or ``_``."""
    end = max(value[:_LONGEST_PREFIX].rfind(sign) for sign in "-_") + 1
    head = value[:end]
    words = head.replace("_", "-").split("-")
    return head if all(word.islower() and word.isalpha() for word in words if word) else ""


def _other(character: str) -> str:
    for kind in _KINDS:
        if character in kind:
            return secrets.choice(kind)
    return character
