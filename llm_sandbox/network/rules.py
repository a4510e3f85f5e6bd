"""Network rules: hosts that a sandbox may connect to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self, get_args

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.network.parsing import (
    as_tuple,
    parse_cidr,
    parse_denied,
    parse_domain,
    parse_hosts,
    parse_port,
    unique,
)

__all__ = ["Network", "NetworkRules", "TlsCheck", "rules_of"]

TlsCheck = Literal["check", "strict", "off"]
"""Check of TLS connections to a name."""


@dataclass(frozen=True)
class NetworkRules:
    """Allowlist of hosts that a sandbox may connect to; everything else is closed.

    Created by `allow` or `internet`. Only TCP is carried, and DNS for the names that are allowed;
    other UDP, ICMP and IPv6 addresses are closed always. A rule with a port (``example.com:443``,
    ``10.0.0.5:5432``) is for that port, whatever `ports` says.

    Raises:
        ValidationError: A rule is invalid; `parameter` names the field.
    """

    domains: tuple[str, ...] = ()
    """Domains: ``example.com`` is that name alone, ``*.example.com`` names with exactly one label
    more, ``**.example.com`` with one or more; neither includes ``example.com``; ``**`` is any.
    """
    cidrs: tuple[str, ...] = ()
    """Addresses that may be connected to directly, like ``93.184.0.0/16`` or ``10.0.0.5``. Private
    addresses need an entirely private range; an address of the host must be given exactly.
    """
    ports: tuple[int, ...] = ()
    """Ports of the rules that have none of their own; empty for any."""
    deny: tuple[str, ...] = ()
    """Names and addresses that are denied, whatever other rules allow."""
    public: bool = False
    """Whether every name and address of the public internet is allowed."""
    hosts: tuple[tuple[str, str], ...] = ()
    """Names with a fixed, possibly private, address; allowed on `ports`. Given as a mapping or as
    pairs.
    """
    resolve_into_cidrs: bool = False
    """Whether an allowed name may have a private address that is in `cidrs`."""
    tls: TlsCheck = "check"
    """``check``: the server name requested by a TLS client must be the name it looked up.
    ``strict``: it must request one unencrypted (no ECH). ``off``: no check.
    """

    _sequences: ClassVar[tuple[str, ...]] = ("domains", "cidrs", "ports", "deny")

    def __post_init__(self) -> None:
        for name in self._sequences:
            given = getattr(self, name)
            if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
                raise ValidationError(f"{name} is a list, not {given!r}", parameter=name)
        values = {
            "domains": unique(parse_domain(rule, "domains") for rule in self.domains),
            "cidrs": unique(parse_cidr(rule, self.resolve_into_cidrs) for rule in self.cidrs),
            "ports": unique(parse_port(port, "ports") for port in self.ports),
            "deny": unique(parse_denied(rule) for rule in self.deny),
            "hosts": parse_hosts(self.hosts),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        for name in ("public", "resolve_into_cidrs"):
            if not isinstance(getattr(self, name), bool):
                raise ValidationError(f"{name} is True or False", parameter=name)
        if self.tls not in get_args(TlsCheck):
            raise ValidationError(
                f"tls is one of {', '.join(get_args(TlsCheck))}, not {self.tls!r}", parameter="tls"
            )

    @classmethod
    def internet(cls, *, ports: Iterable[int] = (), deny: Iterable[str] = ()) -> Self:
        """Return rules that allow the public internet: never host, private, link-local or metadata
        addresses.

        Args:
            ports: Allowed ports; empty for any.
            deny: Names and addresses to deny.

        Raises:
            ValidationError: A rule is invalid.
        """
        return cls(ports=as_tuple(ports, "ports"), deny=as_tuple(deny, "deny"), public=True)

    @classmethod
    def allow(
        cls,
        *,
        domains: Iterable[str] = (),
        cidrs: Iterable[str] = (),
        ports: Iterable[int] = (),
        deny: Iterable[str] = (),
        hosts: Mapping[str, str] | None = None,
        resolve_into_cidrs: bool = False,
        tls: TlsCheck = "check",
    ) -> Self:
        """Return rules that allow only the listed hosts; see the fields for each parameter.

        Raises:
            ValidationError: A rule is invalid.
        """
        return cls(
            domains=as_tuple(domains, "domains"),
            cidrs=as_tuple(cidrs, "cidrs"),
            ports=as_tuple(ports, "ports"),
            deny=as_tuple(deny, "deny"),
            hosts=tuple((hosts or {}).items()),
            resolve_into_cidrs=resolve_into_cidrs,
            tls=tls,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as JSON-able data; `from_dict` brings them back."""
        data = {item.name: getattr(self, item.name) for item in fields(self)}
        plain = {name: list(v) if isinstance(v, tuple) else v for name, v in data.items()}
        return {**plain, "hosts": dict(self.hosts)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the rules that `to_dict` described; missing fields have their defaults.

        Raises:
            ValidationError: A rule is invalid or of an unknown kind, which might be restrictive.
        """
        unknown = set(data) - {item.name for item in fields(cls)}
        if unknown:
            raise ValidationError(
                f"there are no network rules of kind {', '.join(sorted(unknown))}"
            )
        lists = {name: as_tuple(data[name], name) for name in cls._sequences if name in data}
        return cls(**{**data, **lists})


Network = Literal["blocked", "open", "internet"] | NetworkRules
"""Network of a sandbox: none, the host's, the public internet, or by rules."""


def rules_of(network: Network) -> NetworkRules | None:
    """Return the rules for the egress gate of a network; None if there is no gate.

    Raises:
        ValidationError: The network is unknown.
    """
    if isinstance(network, NetworkRules):
        return network
    if network == "internet":
        return NetworkRules.internet()
    if network in ("blocked", "open"):
        return None
    raise ValidationError(
        "network is 'blocked', 'open', 'internet' or NetworkRules.allow(domains=[...]), "
        f"not {network!r}",
        parameter="network",
    )
