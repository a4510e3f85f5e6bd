"""Network of a sandbox in the words of E2B: internet access, and lists of hosts."""

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any

from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.network import Network, NetworkRules

__all__ = ["read_network"]

_EVERYTHING = ("0.0.0.0/0", "::/0", "*")
_KNOWN = frozenset({"allowOut", "denyOut", "allow_internet_access", "allowInternetAccess"})
_HARMLESS = frozenset({"allowPublicTraffic", "maskRequestHost"})


def read_network(body: Mapping[str, Any], most: str) -> Network:
    """Return the network that a request asks for.

    Args:
        body: Body of the request, with ``allow_internet_access`` and ``network``.
        most: The most that the operator allows, which is what a request gets that says nothing.

    Raises:
        UnsupportedError: It has options that there are not.
        ValidationError: A rule is invalid.
    """
    access = body.get("allow_internet_access")
    if access is not None and not isinstance(access, bool):
        raise ValidationError(
            "invalid allow_internet_access: expected true or false",
            parameter="allow_internet_access",
        )
    given = body.get("network") or {}
    if not isinstance(given, Mapping):
        raise ValidationError("invalid network: expected an object", parameter="network")
    unknown = sorted(
        name for name, value in given.items() if value and name not in _KNOWN | _HARMLESS
    )
    if unknown:
        raise UnsupportedError(f"network.{unknown[0]}", reason="there are no such rules")
    if given.get("allowPublicTraffic") is True:
        raise UnsupportedError(
            "network.allowPublicTraffic",
            reason="each port of a sandbox is opened by its tokens only",
            hint="send the header E2B-Traffic-Access-Token",
        )
    if given.get("maskRequestHost"):
        raise UnsupportedError("network.maskRequestHost", reason="the name is passed as it is")
    allowed, denied = _hosts(given, "allowOut"), _hosts(given, "denyOut")
    if access is False or (any(host in _EVERYTHING for host in denied) and not allowed):
        return "blocked"
    denied = [host for host in denied if host not in _EVERYTHING]
    if allowed and not any(host in _EVERYTHING for host in allowed):
        numbers = [host for host in allowed if _is_address(host)]
        names = [host for host in allowed if host not in numbers]
        return NetworkRules.allow(domains=names, cidrs=numbers, deny=denied)
    if denied:
        return NetworkRules.internet(deny=denied)
    if access is True or allowed:
        return "internet"
    return "internet" if most == "internet" else "blocked"


def _hosts(given: Mapping[str, Any], name: str) -> list[str]:
    hosts = given.get(name) or []
    if isinstance(hosts, str) or not isinstance(hosts, Sequence):
        raise ValidationError(f"invalid network.{name}: expected a list", parameter=name)
    if not all(isinstance(host, str) for host in hosts):
        raise ValidationError(f"invalid network.{name}: expected texts", parameter=name)
    return list(hosts)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_network(host, strict=False)
    except ValueError:
        return False
    return True
