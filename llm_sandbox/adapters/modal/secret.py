"""Secrets: environment variables that only programs of a sandbox can see."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from llm_sandbox.adapters.modal.app import refuse_environment
from llm_sandbox.adapters.modal.calls import Function
from llm_sandbox.adapters.modal.checks import check_env
from llm_sandbox.adapters.modal.exception import InvalidError, NotFoundError
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.secrets import Secret as StoredSecret

__all__ = ["Secret", "merge_secrets"]


class Secret:
    """Secret environment variables. Created by `from_dict`, `from_dotenv`, `from_local_environ` or
    `from_name`.
    """

    def __init__(self) -> None:
        self._values: dict[str, str] = {}
        self._stored: tuple[str, ...] = ()
        self._name: str | None = None

    def __repr__(self) -> str:
        shown = self._name or ", ".join([*self._values, *self._stored])
        return f"Secret({shown})"

    @property
    def name(self) -> str | None:
        """Name given to `from_name`; None for other secrets."""
        return self._name

    @Function
    @staticmethod
    def from_dict(env_dict: Mapping[str, str | None] | None = None) -> "Secret":
        """Return a secret with these variables; None values are omitted.

        Raises:
            InvalidError: A name is invalid, or a value is not text.
        """
        return _of(check_env(env_dict, "env_dict"))

    @Function
    @staticmethod
    def from_local_environ(env_keys: Collection[str]) -> "Secret":
        """Return a secret with variables of this process.

        Raises:
            InvalidError: A variable is not set.
        """
        missing = [name for name in env_keys if name not in os.environ]
        if missing:
            raise InvalidError(f"this process has no variable {', '.join(missing)}")
        return _of({name: os.environ[name] for name in env_keys})

    @Function
    @staticmethod
    def from_dotenv(
        path: str | os.PathLike[str] | None = None,
        *,
        filename: str = ".env",
        client: object = None,
    ) -> "Secret":
        """Return a secret with the variables of a dotenv file.

        Args:
            path: A folder, or a file whose folder is used; None for the working directory. The file
                is searched there and in each parent folder.
            filename: Name of the dotenv file.
            client: None; there is nothing to connect to.

        Raises:
            NotFoundError: No such file was found.
            InvalidError: A line cannot be parsed.
        """
        refuse_environment(client, None)
        start = Path.cwd() if path is None else Path(path).absolute()
        folder = start if start.is_dir() else start.parent
        for place in (folder, *folder.parents):
            if (place / filename).is_file():
                return _of(_read_dotenv(place / filename))
        raise NotFoundError(f"there is no {filename} in {folder}, nor above it")

    @Function
    @staticmethod
    def from_name(
        name: str,
        *,
        environment_name: str | None = None,
        required_keys: Collection[str] = (),
        client: object = None,
    ) -> "Secret":
        """Return a secret of this user's store.

        Args:
            name: Name of the secret. Without `required_keys`, the key in the store is this name
                written as a variable: ``my-token`` is ``MY_TOKEN``.
            environment_name: None; there are no environments.
            required_keys: Names of the variables, which are the keys in the store.
            client: None; there is nothing to connect to.

        Raises:
            NotFoundError: The store lacks a key; the hint says how to add it.
        """
        refuse_environment(client, environment_name)
        secret = Secret()
        secret._name = name
        secret._stored = tuple(required_keys) or (_as_variable(name),)
        for key in secret._stored:
            _read_stored(key, name)
        return secret

    def _variables(self) -> dict[str, str]:
        """Return the variables; those of the store are read now."""
        stored = {key: _read_stored(key, self._name or key) for key in self._stored}
        return self._values | stored


def merge_secrets(secrets: Collection[Secret] | None) -> dict[str, str]:
    """Return the variables of several secrets; later ones override earlier ones.

    Raises:
        InvalidError: A value is not a `Secret`.
    """
    merged: dict[str, str] = {}
    for secret in secrets or ():
        if not isinstance(secret, Secret):
            raise InvalidError(
                f"secrets lists Secret objects, not {type(secret).__name__}",
                parameter="secrets",
                hint="Secret.from_dict({...})",
            )
        merged.update(secret._variables())
    return merged


def _of(values: Mapping[str, str]) -> Secret:
    secret = Secret()
    secret._values = dict(values)
    return secret


def _as_variable(name: str) -> str:
    return name.replace("-", "_").replace(".", "_").upper()


def _read_stored(key: str, name: str) -> str:
    try:
        return StoredSecret.from_store(key).reveal()
    except ValidationError:
        raise NotFoundError(
            f"the secret {name!r} needs {key}, which this user's store does not have",
            hint=f"llm-sandbox secret set {key}; or name its variables: required_keys=[...]",
        ) from None


def _read_dotenv(path: Path) -> dict[str, str]:
    found: dict[str, str | None] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip().removeprefix("export ").lstrip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        if not equals:
            # The line is not shown: it may be a secret.
            raise InvalidError(f"line {number} of {path} is not NAME=value")
        found[name.strip()] = _unquoted(value.strip())
    return check_env(found, str(path))


def _unquoted(value: str) -> str:
    quote = value[:1]
    if quote in ('"', "'") and (end := value.find(quote, 1)) > 0:
        inside = value[1:end]
        return inside.replace("\\n", "\n") if quote == '"' else inside
    return value.partition(" #")[0].rstrip()
