"""Network events: blocked or failed connection attempts."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

from llm_sandbox.exceptions import ValidationError

__all__ = ["HINTS", "NetworkEvent"]

HINTS = {
    "name_not_listed": "the name {name} is not among the allowed ones; "
    "NetworkRules.allow(domains=[{name!r}]) opens it",
    "address_not_listed": "the address {address} is not among the allowed ones; "
    "NetworkRules.allow(cidrs=['{address}']) opens it, and domains=[...] its name",
    "port_not_listed": "port {port} of {target} is not among the allowed ones; "
    "NetworkRules.allow(ports=[{port}, ...]) opens it",
    "denied": "{target} is denied by a rule; taking it out of deny=[...] opens it",
    "private_address": "{address} is an address of a private or special range; "
    "NetworkRules.allow(cidrs=['{address}']) opens it",
    "own_address": "{address} is an address of the host itself; "
    "NetworkRules.allow(cidrs=['{address}/32']) opens it",
    "resolved_private": "the name {name} has the address {address}, which is not a public one; "
    "NetworkRules.allow(hosts={{{name!r}: '{address}'}}) opens it",
    "never": "{address} is not an address that can be connected to",
    "unknown_synthetic": "{address} stands for a name that was not looked up; "
    "programs have to look names up before they connect",
    "tls_name": "a TLS client asked for {detail!r} on a connection to {name}; "
    "NetworkRules.allow(domains=[{detail!r}]) opens that name, tls='off' ends the comparison",
    "tls_no_name": "a TLS client asked for no name on a connection to {name}; "
    "tls='check' allows that",
    "tls_encrypted_name": "a TLS client encrypted the name that it asked for (ECH) on a connection "
    "to {name}; tls='check' allows that",
    "tls_malformed": "what looked like the start of TLS on a connection to {name} cannot be read; "
    "tls='off' lets it pass",
    "too_many": "too many connections are open at once",
    "not_resolved": "the host cannot find an address of {name}",
    "not_reached": "{target} does not answer on port {port}",
    "secret_elsewhere": "the placeholder of secret {detail} was sent to {target}, which it is not "
    "bound to; Secret({detail!r}, ..., hosts=[{target!r}]) binds it",
    "secret_in_clear": "a program spoke to {name} without TLS on port {port}, where a secret is "
    "bound to that host; https:// is what its placeholder is replaced in",
    "host_certificate": "this machine does not trust the certificate of {name} ({detail}), so that "
    "no secret is sent there; SSL_CERT_FILE names what it trusts",
    "host_tls": "{name} does not speak TLS on port {port} ({detail})",
    "host_header": "a request asked for host {detail!r} on a connection to {name}, which a secret "
    "is bound to",
    "http_malformed": "HTTP on a connection to {name}, which a secret is bound to, cannot be read "
    "in one way alone ({detail})",
    "proxy_malformed": "a request to the proxy of this sandbox cannot be read in one way alone "
    "({detail})",
    "authority_refused": "a program did not believe the gate in place of {name} ({detail}); it has "
    "to trust the file that SSL_CERT_FILE names inside",
    "rules_changed": "a connection to {target} was cut as the rules allow it no longer",
}
"""Hints by reason: the restriction, and the option that lifts it."""


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """Blocked or failed network operation of a sandbox."""

    number: int
    """Number from 1 in each sandbox; a repeated attempt gets a new one."""
    time: float
    """Time of the last attempt, in seconds since 1970."""
    protocol: Literal["dns", "tcp", "tls", "http"]
    """Layer: name lookup, connection, TLS, or a request on a connection."""
    verdict: Literal["denied", "failed"]
    """``denied``: refused by the rules; ``failed``: allowed, but the other side did not answer."""
    reason: str
    """Stable identifier, such as ``name_not_listed``."""
    name: str | None = None
    """Name that was looked up; None for a connection to an address."""
    address: str | None = None
    """Address of the connection or the name; None if there was neither."""
    port: int | None = None
    """Port; None for a name lookup."""
    detail: str = ""
    """Further detail, such as the server name requested by a TLS client."""
    count: int = 1
    """Number of attempts."""

    @property
    def target(self) -> str:
        """Name, or the address if there is none."""
        return self.name or self.address or "?"

    @property
    def hint(self) -> str:
        """Restriction, and the option that lifts it, as one sentence without a full stop."""
        sentence = HINTS.get(self.reason, "{target}: {reason}")
        return sentence.format(
            name=self.name,
            address=self.address,
            port=self.port,
            target=self.target,
            detail=self.detail,
            reason=self.reason,
        )

    def __str__(self) -> str:
        return self.hint

    def to_dict(self) -> dict[str, Any]:
        """Return the event as JSON-able data; `from_dict` brings it back."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the event that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: A field is missing or invalid.
        """
        try:
            return cls(
                number=int(data["number"]),
                time=float(data["time"]),
                protocol=data["protocol"],
                verdict=data["verdict"],
                reason=str(data["reason"]),
                name=data.get("name"),
                address=data.get("address"),
                port=data.get("port"),
                detail=str(data.get("detail", "")),
                count=int(data.get("count", 1)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValidationError(f"the data does not describe a network event: {error}") from None
