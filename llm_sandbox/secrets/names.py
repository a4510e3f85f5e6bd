"""Validation of names, values and bound hosts of secrets."""

import contextlib
import re
from collections.abc import Iterable

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.network.parsing import as_tuple, parse_domain, unique

__all__ = ["check_name", "check_value", "parse_binding", "parse_bindings", "parse_query"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_LONGEST_NAME = 128
_LARGEST = 64 << 10
_FIELD = re.compile(r"[!-~]{1,128}", re.ASCII)
_PREFIX = re.compile(r"/[A-Za-z0-9._~/:@!$&'()*+,;=-]*", re.ASCII)


def check_name(name: object, parameter: str = "name") -> str:
    """Return a valid name of a secret, which is that of a variable.

    Raises:
        ValidationError: The value is invalid.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
        # Not shown: somebody may have put the value there.
        raise ValidationError(
            "the name of a secret is 1 to 128 letters, digits or '_', and begins with no digit",
            parameter=parameter,
        )
    return name


def check_value(value: object, name: str) -> str:
    """Return a valid value of a secret.

    Raises:
        ValidationError: The value is not text, empty, too large, or contains a NUL; the message
            does not show it.
    """
    if not isinstance(value, str):
        raise ValidationError(
            f"the value of secret {name} must be text, not {type(value).__name__}",
            parameter="value",
        )
    problem = "is empty" if not value else "holds a NUL" if "\0" in value else ""
    size = -1
    with contextlib.suppress(UnicodeEncodeError):
        size = len(value.encode("utf-8", "surrogateescape"))
    if size < 0:
        problem = "cannot be encoded"
    elif size > _LARGEST:
        problem = "is larger than 64 KiB"
    if problem:
        raise ValidationError(f"the value of secret {name} {problem}", parameter="value")
    return value


def parse_bindings(hosts: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts that a secret is bound to, normalised.

    Raises:
        ValidationError: A host is invalid.
    """
    return unique(parse_binding(host) for host in as_tuple(hosts, "hosts"))


def parse_binding(rule: object) -> str:
    """Parse a bound host to ``name:port`` and a path prefix, ``/`` for all.

    Args:
        rule: ``api.example.com``, ``*.example.com``, ``api.example.com:8443`` or
            ``api.example.com/v1/``; the port is 443 unless given.

    Raises:
        ValidationError: The value is invalid.
    """
    if not isinstance(rule, str):
        raise ValidationError(f"a host is text, not {rule!r}", parameter="hosts")
    if "://" in rule:
        raise ValidationError(
            f"{rule!r} is not a host: write it without a scheme, such as api.example.com/v1/",
            parameter="hosts",
        )
    host, slash, rest = rule.partition("/")
    domain = parse_domain(host, "hosts")
    name, colon, port = domain.rpartition(":")
    name, port = (name, port) if colon else (domain, "443")
    if name == "**" or (name.startswith("*") and "." not in name.partition(".")[2]):
        raise ValidationError(
            f"{rule!r}: a secret is bound to names of one owner, such as *.example.com",
            parameter="hosts",
        )
    prefix = slash + rest or "/"
    if not _PREFIX.fullmatch(prefix) or "//" in prefix or _climbs(prefix):
        raise ValidationError(f"{rule!r}: not the beginning of a path", parameter="hosts")
    return f"{name}:{port}{prefix}"


def _climbs(path: str) -> bool:
    return any(part in (".", "..") for part in path.split("/"))


def parse_query(fields: Iterable[str]) -> tuple[str, ...]:
    """Return valid names of query fields.

    Raises:
        ValidationError: A name is invalid.
    """
    listed = as_tuple(fields, "query")
    for field in listed:
        if not isinstance(field, str) or not _FIELD.fullmatch(field):
            raise ValidationError("query lists names of query fields", parameter="query")
    return unique(listed)
