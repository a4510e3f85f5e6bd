"""Requests to the proxy of a sandbox: their destinations, and the heads that are sent on."""

import ipaddress
import re
from dataclasses import dataclass, replace

from llm_sandbox.egress.addresses import IpAddress
from llm_sandbox.egress.interception.http_messages import (
    RequestHead,
    read_proxy_request,
    tokens,
)
from llm_sandbox.egress.interception.refusal import Refusal

__all__ = ["ProxyRequest", "read_destination"]

_HTTP_PORT = 80
_AUTHORITY = re.compile(
    r"(?:\[(?P<six>[0-9A-Fa-f:.]{2,45})\]|(?P<host>[A-Za-z0-9._-]{1,254}))(?::(?P<port>[0-9]{1,5}))?",
    re.ASCII,
)
_ABSOLUTE = re.compile(r"http://(?P<authority>[^/?#]+)(?P<rest>[/?][^#]*)?", re.ASCII | re.I)
_OF_ONE_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "upgrade",
    }
)
"""Fields that concern the proxy alone."""
_NEVER_OF_ONE_HOP = frozenset({"content-length", "host", "transfer-encoding"})
"""Fields that ``Connection`` must not take out, as the message would be another one."""


@dataclass(frozen=True)
class ProxyRequest:
    """Request of a program to the proxy."""

    name: str | None
    """Name of the destination, in lower case; None for an address."""
    address: IpAddress | None
    """Address of the destination; None for a name."""
    port: int
    """Port of the destination."""
    head: RequestHead | None
    """Head that the destination gets; None for a tunnel."""


def read_destination(buffer: bytearray) -> ProxyRequest | None:
    """Take a request from the front of a buffer; None if its head is incomplete.

    Raises:
        Refusal: It is invalid, ambiguous, or no request to a proxy.
    """
    # trust: comes from inside. Of two readings none is taken.
    try:
        head = read_proxy_request(buffer)
    except Refusal as refusal:
        raise _malformed(refusal.detail) from None
    if head is None:
        return None
    if head.method == "CONNECT":
        if head.chunked or head.length is not None:
            raise _malformed("a length of CONNECT")
        name, address, port = _parse_authority(head.target, None)
        _check_host(head, name, address, port, usual=port)
        return ProxyRequest(name, address, port, None)
    found = _ABSOLUTE.fullmatch(head.target)
    if found is None or head.method == "TRACE":
        raise _malformed("target")
    name, address, port = _parse_authority(found["authority"], _HTTP_PORT)
    _check_host(head, name, address, port, usual=_HTTP_PORT)
    rest = found["rest"] or "/"
    target = rest if rest.startswith("/") else f"/{rest}"
    return ProxyRequest(name, address, port, _for_server(head, found["authority"], target))


def _parse_authority(
    authority: str, usual_port: int | None
) -> tuple[str | None, IpAddress | None, int]:
    found = _AUTHORITY.fullmatch(authority)
    if found is None:
        raise _malformed("target")
    port = usual_port if found["port"] is None else int(found["port"])
    if port is None or not 0 < port < 1 << 16:
        raise _malformed("port")
    try:
        if found["six"] is not None:
            return None, ipaddress.IPv6Address(found["six"]), port
        return None, ipaddress.IPv4Address(found["host"]), port
    except ValueError:
        if found["six"] is not None:
            raise _malformed("target") from None
    name: str = found["host"].lower().removesuffix(".")
    if not name:
        raise _malformed("target")
    return name, None, port


def _check_host(
    head: RequestHead, name: str | None, address: IpAddress | None, port: int, *, usual: int
) -> None:
    """Refuse a request whose ``Host`` is not its destination.

    Args:
        head: The request.
        name: The destination's name.
        address: The destination's address.
        port: The destination's port.
        usual: The port that a host without one means.
    """
    values = head.values("host")
    if len(values) > 1 or (not values and head.version == "HTTP/1.1" and head.method != "CONNECT"):
        raise _malformed("host")
    if values and _parse_authority(values[0], usual) != (name, address, port):
        raise _malformed("host")


def _for_server(head: RequestHead, authority: str, target: str) -> RequestHead:
    """Return the head for the destination, which closes the connection after its response.

    Each request to a proxy may be for another host, and a connection to a host is for that alone.
    """
    named = tokens(head.values("connection"))
    if named & _NEVER_OF_ONE_HOP:
        raise _malformed("connection")
    dropped = _OF_ONE_HOP | named | {"host"}
    fields = [
        ("Host", authority),
        *((name, value) for name, value in head.fields if name.lower() not in dropped),
        ("Connection", "close"),
    ]
    return replace(head, fields=tuple(fields), target=target)


def _malformed(what: str) -> Refusal:
    return Refusal("proxy_malformed", what, status="400 Bad Request")
