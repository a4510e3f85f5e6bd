"""Parsing and validation of network rules."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any

from llm_sandbox.exceptions import ValidationError

__all__ = [
    "SYNTHETIC_RANGE",
    "as_tuple",
    "parse_cidr",
    "parse_denied",
    "parse_domain",
    "parse_hosts",
    "parse_port",
    "unique",
]

SYNTHETIC_RANGE = "198.18.0.0/15"
"""Address range that stands for names inside a sandbox; unused on the internet."""

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_LONGEST_NAME = 253
_NEVER = tuple(map(ipaddress.ip_network, ("0.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "ff00::/8")))
_IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


def as_tuple(given: Iterable[Any], parameter: str) -> tuple[Any, ...]:
    """Return a list as a tuple; text is refused although it is iterable."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ValidationError(f"{parameter} is a list, not {given!r}", parameter=parameter)
    return tuple(given)


def unique(values: Iterable[Any]) -> tuple[Any, ...]:
    """Return values without duplicates."""
    return tuple(dict.fromkeys(values))


def parse_port(port: object, parameter: str) -> int:
    """Parse a port.

    Raises:
        ValidationError: The value is invalid.
    """
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
        raise ValidationError(
            f"a port is a number from 1 to 65535, not {port!r}", parameter=parameter
        )
    return port


def _split_port(rule: str, parameter: str) -> tuple[str, str]:
    """Split a host from its port, which keeps its colon and is empty if missing."""
    head, colon, port = rule.rpartition(":")
    if not colon or ":" in head:
        return rule, ""
    if not (port.isascii() and port.isdecimal()):
        raise ValidationError(f"{rule!r} has no number for a port", parameter=parameter)
    return head, f":{parse_port(int(port), parameter)}"


def parse_domain(rule: object, parameter: str) -> str:
    """Parse a domain pattern to lower case, with IDNA for non-ASCII names.

    Raises:
        ValidationError: The value is invalid.
    """
    if not isinstance(rule, str) or not rule.strip():
        raise ValidationError(f"a rule is text, not {rule!r}", parameter=parameter)
    if "/" in rule:
        raise ValidationError(
            f"{rule!r} is not a name: write the host alone, without a scheme and a path",
            parameter=parameter,
        )
    text, port = _split_port(rule.strip(), parameter)
    wildcard, name = "", text
    for prefix in ("**.", "*."):
        if text.startswith(prefix):
            wildcard, name = prefix, text.removeprefix(prefix)
            break
    if text == "**":
        return f"**{port}"
    if _network(name) is not None:
        raise ValidationError(f"{rule!r} is an address: list it in cidrs", parameter=parameter)
    if "*" in name:
        raise ValidationError(
            f"{rule!r}: a wildcard is the whole beginning, *.example.com for one label, "
            "**.example.com for any number, ** for every name",
            parameter=parameter,
        )
    return f"{wildcard}{_name(name, rule, parameter)}{port}"


def _name(name: str, rule: str, parameter: str) -> str:
    """Return a name in DNS form: lower case, with IDNA for non-ASCII names."""
    try:
        encoded = name.removesuffix(".").encode("idna").decode("ascii").lower()
    except UnicodeError as error:
        raise ValidationError(f"{rule!r} is not a name: {error}", parameter=parameter) from None
    labels = encoded.split(".")
    if len(encoded) > _LONGEST_NAME or not all(map(_LABEL.fullmatch, labels)):
        raise ValidationError(f"{rule!r} is not a name", parameter=parameter)
    return encoded


def _network(text: str) -> _IpNetwork | None:
    try:
        return ipaddress.ip_network(text.strip("[]"))
    except ValueError:
        return None


def parse_cidr(rule: object, into_cidrs: bool) -> str:
    """Parse an address range.

    Raises:
        ValidationError: The range is invalid or unreachable.
    """
    if not isinstance(rule, str):
        raise ValidationError(f"a rule is text, not {rule!r}", parameter="cidrs")
    text, port = _split_port(rule.strip(), "cidrs")
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        raise ValidationError(
            f"{rule!r} is not an address range: {error}", parameter="cidrs"
        ) from None
    if any(network.version == other.version and network.subnet_of(other) for other in _NEVER):  # type: ignore[arg-type]
        raise ValidationError(f"nothing can be connected to in {rule!r}", parameter="cidrs")
    if network.version == 6 and not into_cidrs:
        raise ValidationError(
            f"{rule!r}: a sandbox has no IPv6, so that only names can have addresses there; "
            "resolve_into_cidrs=True allows that",
            parameter="cidrs",
        )
    if network.version == 4 and network.subnet_of(ipaddress.IPv4Network(SYNTHETIC_RANGE)):
        raise ValidationError(
            f"{rule!r} is within {SYNTHETIC_RANGE}, whose addresses stand for names in a sandbox",
            parameter="cidrs",
        )
    return f"{network}{port}"


def parse_denied(rule: object) -> str:
    """Parse a domain pattern or an address range.

    Raises:
        ValidationError: The value is neither.
    """
    if isinstance(rule, str):
        text, port = _split_port(rule.strip(), "deny")
        network = _network(text)
        if network is not None:
            return f"{network}{port}"
    return parse_domain(rule, "deny")


def parse_hosts(given: object) -> tuple[tuple[str, str], ...]:
    """Parse names and their addresses.

    Raises:
        ValidationError: A name or an address is invalid.
    """
    pairs = given.items() if isinstance(given, Mapping) else given
    try:
        listed = [(name, address) for name, address in pairs]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ValidationError("hosts maps names to addresses", parameter="hosts") from None
    found: dict[str, str] = {}
    for name, address in listed:
        if not isinstance(name, str) or not isinstance(address, str):
            raise ValidationError("hosts maps names to addresses", parameter="hosts")
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            raise ValidationError(f"{address!r} is not an address", parameter="hosts") from None
        if any(parsed in other for other in _NEVER if parsed.version == other.version):
            raise ValidationError(f"nothing can be connected to at {address!r}", parameter="hosts")
        found[_name(name, name, "hosts")] = str(parsed)
    return tuple(found.items())
