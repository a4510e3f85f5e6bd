"""What a sandbox tried over its network in vain, and which door that was."""

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
    "never": "{address} is no address that connections can be made to",
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
    "authority_refused": "a program did not believe the gate in place of {name} ({detail}); it has "
    "to trust the file that SSL_CERT_FILE names inside",
    "rules_changed": "a connection to {target} was cut as the rules allow it no longer",
}
"""Reason to the sentence that says which door is closed and what opens it."""


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """Something that a sandbox tried over its network and that did not come about."""

    number: int
    """Counts up from 1 in each sandbox; an attempt that is repeated gets a new one."""
    time: float
    """When it was last tried, in seconds since 1970."""
    protocol: Literal["dns", "tcp", "tls", "http"]
    """What closed: looking a name up, a connection, TLS or a request on a connection."""
    verdict: Literal["denied", "failed"]
    """``denied`` by the rules; ``failed``: allowed, and the other side did not answer."""
    reason: str
    """Stable word, such as ``name_not_listed``."""
    name: str | None = None
    """The name that was looked up; None where an address was connected to."""
    address: str | None = None
    """The address that was connected to, or that the name has; None where it came to neither."""
    port: int | None = None
    """The port; None for a name that was only looked up."""
    detail: str = ""
    """What else there is to say, such as the server name that a TLS client asked for."""
    count: int = 1
    """How often it was tried."""

    @property
    def target(self) -> str:
        """The name, or the address where there is none."""
        return self.name or self.address or "?"

    @property
    def hint(self) -> str:
        """Which door is closed and what opens it, as one sentence without a full stop."""
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
            ValidationError: A field is missing or of another kind.
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
