"""Matching of names, addresses and resolved addresses against network rules, without I/O."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from llm_sandbox.egress.addresses import (
    IpAddress,
    IpNetwork,
    is_own,
    is_unreachable,
    special_range,
)
from llm_sandbox.network import NetworkRules

__all__ = ["RuleMatcher", "Verdict", "is_name"]

_NAME = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}", re.ASCII)


def is_name(name: str) -> bool:
    """Return whether a lower-case name is a valid host name; others are not resolved."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a match: `reason` is None where the rules allow it."""

    reason: str | None = None

    @property
    def allowed(self) -> bool:
        """Whether the rules allow it."""
        return self.reason is None


_ALLOWED = Verdict()


@dataclass(frozen=True, slots=True)
class _DomainRule:
    wildcard: str
    name: str
    port: int | None

    def matches(self, name: str) -> bool:
        if not self.wildcard:
            return name == self.name
        if self.wildcard == "any":
            return True
        before, dot, _ = name.rpartition(f".{self.name}")
        if not dot or not before or not name.endswith(f".{self.name}"):
            return False
        return self.wildcard == "**" or "." not in before


@dataclass(frozen=True, slots=True)
class _RangeRule:
    network: IpNetwork
    port: int | None

    def matches(self, address: IpAddress) -> bool:
        return address.version == self.network.version and address in self.network

    def names(self, address: IpAddress, special: IpNetwork | None, *, own: bool) -> bool:
        """Return whether it allows the address: one that is not public must be named explicitly."""
        if not self.matches(address):
            return False
        if special is not None and not _within(self.network, special):
            return False
        exact = self.network.prefixlen == self.network.max_prefixlen
        return exact or not own or address.is_loopback


def _within(inner: IpNetwork, outer: IpNetwork) -> bool:
    if isinstance(inner, ipaddress.IPv4Network):
        return isinstance(outer, ipaddress.IPv4Network) and inner.subnet_of(outer)
    return isinstance(outer, ipaddress.IPv6Network) and inner.subnet_of(outer)


@dataclass(frozen=True)
class RuleMatcher:
    """Compiled network rules.

    Args:
        rules: The rules.
        own: Returns whether an address is the host's.
    """

    rules: NetworkRules
    own: Callable[[IpAddress], bool] = is_own
    _domains: list[_DomainRule] = field(init=False, default_factory=list)
    _ranges: list[_RangeRule] = field(init=False, default_factory=list)
    _denied_domains: list[_DomainRule] = field(init=False, default_factory=list)
    _denied_ranges: list[_RangeRule] = field(init=False, default_factory=list)
    _hosts: dict[str, IpAddress] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        rules = self.rules
        self._domains.extend(map(_read_domain, rules.domains))
        self._domains.extend(_DomainRule("", name, None) for name, _ in rules.hosts)
        if rules.public:
            self._domains.append(_DomainRule("any", "", None))
        self._ranges.extend(filter(None, map(_read_range, rules.cidrs)))
        for rule in rules.deny:
            range_rule = _read_range(rule)
            if range_rule is not None:
                self._denied_ranges.append(range_rule)
            else:
                self._denied_domains.append(_read_domain(rule))
        self._hosts.update((name, ipaddress.ip_address(address)) for name, address in rules.hosts)

    def pinned(self, name: str) -> IpAddress | None:
        """Return the address that the rules give a name; None if it has to be resolved."""
        return self._hosts.get(name)

    def name(self, name: str, port: int | None = None) -> Verdict:
        """Return the verdict on a name; without a port, on any port at all.

        Args:
            name: In lower case, without a dot at its end.
            port: The port; None for a DNS query.
        """
        if not is_name(name):
            return Verdict("name_not_listed")
        if any(r.matches(name) and r.port in (None, port) for r in self._denied_domains):
            return Verdict("denied")
        matching = [rule for rule in self._domains if rule.matches(name)]
        if not matching:
            return Verdict("name_not_listed")
        if port is None or any(self._opens(rule.port, port) for rule in matching):
            return _ALLOWED
        return Verdict("port_not_listed")

    def literal(self, address: IpAddress, port: int) -> Verdict:
        """Return the verdict on an address without a name."""
        # In a sandbox, loopback is the sandbox's own; here it would be the host's.
        if is_unreachable(address) or address.is_loopback:
            return Verdict("never")
        if self._is_denied(address, port):
            return Verdict("denied")
        special, own = special_range(address), self.own(address)
        matching = [r for r in self._ranges if r.names(address, special, own=own)]
        ports = [rule.port for rule in matching]
        if self.rules.public and special is None and not own:
            ports.append(None)
        if any(self._opens(rule_port, port) for rule_port in ports):
            return _ALLOWED
        if ports:
            return Verdict("port_not_listed")
        if special is not None:
            return Verdict("private_address")
        return Verdict("own_address" if own else "address_not_listed")

    def resolved(self, name: str, address: IpAddress, port: int) -> Verdict:
        """Return the verdict on an address to which an allowed name was resolved."""
        if is_unreachable(address):
            return Verdict("never")
        if self._is_denied(address, port):
            return Verdict("denied")
        if self._hosts.get(name) == address:
            return _ALLOWED
        special, own = special_range(address), self.own(address)
        if special is None and not own:
            return _ALLOWED
        if self.rules.resolve_into_cidrs and any(
            rule.names(address, special, own=own) and self._opens(rule.port, port)
            for rule in self._ranges
        ):
            return _ALLOWED
        return Verdict("resolved_private")

    def _is_denied(self, address: IpAddress, port: int) -> bool:
        return any(r.matches(address) and r.port in (None, port) for r in self._denied_ranges)

    def _opens(self, rule_port: int | None, port: int) -> bool:
        if rule_port is not None:
            return rule_port == port
        return not self.rules.ports or port in self.rules.ports


def _split(rule: str) -> tuple[str, int | None]:
    head, colon, port = rule.rpartition(":")
    if colon and ":" not in head:
        return head, int(port)
    return rule, None


def _read_domain(rule: str) -> _DomainRule:
    text, port = _split(rule)
    if text == "**":
        return _DomainRule("any", "", port)
    for wildcard in ("**", "*"):
        if text.startswith(f"{wildcard}."):
            return _DomainRule(wildcard, text.removeprefix(f"{wildcard}."), port)
    return _DomainRule("", text, port)


def _read_range(rule: str) -> _RangeRule | None:
    text, port = _split(rule)
    try:
        return _RangeRule(ipaddress.ip_network(text), port)
    except ValueError:
        return None
