"""Secret: a name, a hidden value, and the way of delivery to programs."""

import hmac
import os
import posixpath
from collections.abc import Iterable
from typing import Any, Literal, NoReturn, Self, get_args

from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.secrets.names import check_name, check_value, parse_bindings, parse_query

__all__ = ["MEMORY", "Delivery", "Secret"]

Delivery = Literal["env", "file", "placeholder"]
"""Way of delivery of a secret."""

MEMORY = "/dev/shm"  # noqa: S108 - inside
"""Mount point of the memory file system in every sandbox."""
_SHORTEST = 8


class Secret:
    """Secret value for programs in a sandbox; no representation, format, copy or pickle shows it.

    Args:
        name: Name of the variable: letters, digits and ``_``.
        value: Value of at most 64 KiB.
        delivery: ``env``: a variable of the programs. ``file``: a file in memory that the variable
            ``NAME_FILE`` names; the value is in no environment. ``placeholder``: the variable holds
            a random word, which the gate replaces with the value in TLS requests to `hosts`; the
            value never enters the sandbox.
        hosts: For a placeholder: hosts that the value may be sent to, such as ``api.example.com``,
            ``*.example.com``, ``api.example.com:8443`` (443 unless given) or
            ``api.example.com/v1/``, which is limited to that path prefix. They do not open the
            network.
        path: For a file: path below ``/dev/shm``; None for a default.
        query: For a placeholder: query fields of requests in which it is also replaced.

    Raises:
        ValidationError: A value is invalid, or unsupported by the way of delivery.
    """

    __slots__ = ("__weakref__", "_delivery", "_hosts", "_name", "_path", "_query", "_value")

    _name: str
    _value: str
    _delivery: Delivery
    _hosts: tuple[str, ...]
    _path: str | None
    _query: tuple[str, ...]

    def __init__(
        self,
        name: str,
        value: str,
        delivery: Delivery = "env",
        hosts: Iterable[str] = (),
        *,
        path: str | None = None,
        query: Iterable[str] = (),
    ) -> None:
        checked = check_name(name)
        if delivery not in get_args(Delivery):
            raise ValidationError(
                f"delivery is one of {', '.join(get_args(Delivery))}, not {delivery!r}",
                parameter="delivery",
            )
        given = {
            "_name": checked,
            "_value": check_value(value, checked),
            "_delivery": delivery,
            "_hosts": parse_bindings(hosts),
            "_path": None if path is None else _check_path(path),
            "_query": parse_query(query),
        }
        for slot, content in given.items():
            object.__setattr__(self, slot, content)
        self._check()

    def _check(self) -> None:
        bound = self._delivery == "placeholder"
        for parameter, used, wanted in (
            ("hosts", bool(self._hosts), bound),
            ("query", bool(self._query), bound),
            ("path", self._path is not None, self._delivery == "file"),
        ):
            if used and not wanted:
                raise ValidationError(
                    f"secret {self._name}: {parameter} means nothing with "
                    f"delivery={self._delivery!r}",
                    parameter=parameter,
                )
        if not bound:
            return
        if not self._hosts:
            raise ValidationError(
                f"secret {self._name} is to be a placeholder, and has no hosts to be replaced for",
                parameter="hosts",
                hint="hosts=['api.example.com']",
            )
        plain = self._value.isascii() and self._value.isprintable() and " " not in self._value
        if not plain or len(self._value) < _SHORTEST:
            raise ValidationError(
                f"the value of secret {self._name} can be no placeholder: what goes into headers "
                "is 8 or more letters, digits and signs without spaces",
                parameter="value",
                hint="delivery='file'",
            )

    @classmethod
    def from_env(
        cls,
        name: str,
        delivery: Delivery = "env",
        hosts: Iterable[str] = (),
        *,
        path: str | None = None,
        query: Iterable[str] = (),
    ) -> Self:
        """Return a secret with the value of a variable of this process; arguments as for the class.

        Raises:
            ValidationError: The variable is not set, or empty.
        """
        value = os.environ.get(check_name(name), "")
        if not value:
            raise ValidationError(
                f"this process has no variable {name}",
                parameter="name",
                hint=f"read -rs {name} && export {name}",
            )
        return cls(name, value, delivery, hosts, path=path, query=query)

    @classmethod
    def from_store(
        cls,
        name: str,
        delivery: Delivery = "env",
        hosts: Iterable[str] = (),
        *,
        path: str | None = None,
        query: Iterable[str] = (),
    ) -> Self:
        """Return a secret of this user's store by name; arguments as for the class.

        Raises:
            ValidationError: The secret does not exist.
            SecurityError: Other users can read or own the store.
        """
        from llm_sandbox.secrets.store import SecretStore

        value = SecretStore().read(check_name(name))
        return cls(name, value, delivery, hosts, path=path, query=query)

    @property
    def name(self) -> str:
        """Name of the variable."""
        return self._name

    @property
    def delivery(self) -> Delivery:
        """Way of delivery."""
        return self._delivery

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts for which a placeholder is replaced: ``name:port/prefix``."""
        return self._hosts

    @property
    def path(self) -> str | None:
        """Path of the file; None for the default, or without a file."""
        return self._path

    @property
    def query(self) -> tuple[str, ...]:
        """Query fields in which a placeholder is replaced."""
        return self._query

    def reveal(self) -> str:
        """Return the value."""
        return self._value

    def __repr__(self) -> str:
        more = f", hosts={self._hosts!r}" if self._hosts else ""
        return f"Secret({self._name!r}, '***', delivery={self._delivery!r}{more})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        mine, theirs = (one._value.encode("utf-8", "surrogateescape") for one in (self, other))
        return hmac.compare_digest(mine, theirs) and self._public() == other._public()

    def __hash__(self) -> int:
        return hash(self._public())

    def _public(self) -> tuple[object, ...]:
        return self._name, self._delivery, self._hosts, self._path, self._query

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Secret cannot be changed: make another one ({name})")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Secret cannot be changed: make another one ({name})")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise UnsupportedError(
            "pickling a Secret",
            reason="its value would be in the pickle for all to read",
            hint=f"make it anew where it is needed: Secret.from_env({self._name!r})",
        )


def _check_path(path: object) -> str:
    if isinstance(path, str) and "\0" not in path:
        clean = posixpath.normpath(path)
        if clean == path and path.startswith(f"{MEMORY}/"):
            return path
    raise ValidationError(
        f"the file of a secret lies below {MEMORY}, which is in memory and in no snapshot",
        parameter="path",
        hint=f"path='{MEMORY}/token'",
    )
