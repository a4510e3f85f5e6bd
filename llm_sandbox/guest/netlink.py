"""Routes and packet rules of a network namespace, by netlink messages to the kernel.

No program is needed, neither `ip` nor `iptables` nor `nft`. It acts on the namespace of the calling
process, which needs CAP_NET_ADMIN there.
"""

from __future__ import annotations

import errno
import os
import socket
import struct

_NETLINK_ROUTE = 0
_NETLINK_NETFILTER = 12
_HEADER = struct.Struct("=IHHII")
_REQUEST, _ACK, _EXCLUSIVE, _CREATE, _APPEND = 0x1, 0x4, 0x200, 0x400, 0x800
_ERROR = 2
_NESTED = 0x8000

_NEW_ROUTE = 24
_TABLE_LOCAL, _PROTOCOL_STATIC, _SCOPE_HOST, _TYPE_LOCAL = 255, 4, 254, 2
_OUTPUT_INTERFACE, _PREFERRED_SOURCE = 4, 7

_BATCH_BEGIN, _BATCH_END = 0x10, 0x11
_NF_TABLES = 10
_NEW_TABLE, _NEW_CHAIN, _NEW_RULE = 0, 3, 6
_IPV4 = 2
_LOCAL_OUT = 3
_NAT_PRIORITY, _FILTER_PRIORITY = -100, 0
_ACCEPT = 1
_RETURN = -5
_REGISTER = 1
_NET_PROHIBITED = 9
_ESTABLISHED_OR_RELATED = 0b110

TABLE = "llm_sandbox"


def add_local_default() -> None:
    """Route every IPv4 address to this namespace's own sockets, by loopback."""
    loopback = socket.if_nametoindex("lo")
    body = struct.pack(
        "=BBBBBBBBI",
        *(socket.AF_INET, 0, 0, 0),
        *(_TABLE_LOCAL, _PROTOCOL_STATIC, _SCOPE_HOST, _TYPE_LOCAL),
        0,
    )
    body += _attribute(_OUTPUT_INTERFACE, struct.pack("=I", loopback))
    # Otherwise a connection's source would equal its destination.
    body += _attribute(_PREFERRED_SOURCE, socket.inet_aton("127.0.0.1"))
    _send_messages(
        _NETLINK_ROUTE, [_message(_NEW_ROUTE, _CREATE | _EXCLUSIVE | _ACK, 1, body)], {1}
    )


def redirect(tcp: int, dns_udp: int, dns_tcp: int) -> None:
    """Redirect connections and DNS to ports of this namespace, and reject all other IPv4 at once.

    Connections to 127.0.0.0/8 are not redirected, except for DNS.

    Args:
        tcp: Port for connections to anywhere.
        dns_udp: Port for DNS over UDP, whatever server it is meant for.
        dns_tcp: Port for DNS over TCP.

    Raises:
        OSError: The kernel has no nf_tables, or does not let this process use it.
    """
    to_loopback = _load_payload(1, 16, 1) + _compare(b"\x7f")
    rules = [
        ("nat", _is_protocol(socket.IPPROTO_UDP) + _is_to_port(53) + _redirect_to(dns_udp)),
        ("nat", _is_protocol(socket.IPPROTO_TCP) + _is_to_port(53) + _redirect_to(dns_tcp)),
        ("nat", to_loopback + _verdict(_RETURN)),
        ("nat", _is_protocol(socket.IPPROTO_TCP) + _redirect_to(tcp)),
        ("out", to_loopback + _verdict(_ACCEPT)),
        # Answers to sockets that are bound to an address other than 127.0.0.1.
        ("out", _is_established() + _verdict(_ACCEPT)),
        ("out", _reject()),
    ]
    messages = [
        _of_tables(_NEW_TABLE, _CREATE | _EXCLUSIVE, _text(1, TABLE)),
        _of_tables(_NEW_CHAIN, _CREATE, _chain("nat", "nat", _NAT_PRIORITY)),
        _of_tables(_NEW_CHAIN, _CREATE, _chain("out", "filter", _FILTER_PRIORITY)),
    ]
    for chain, expressions in rules:
        body = _text(1, TABLE) + _text(2, chain) + _attribute(4 | _NESTED, expressions)
        messages.append(_of_tables(_NEW_RULE, _CREATE | _APPEND, body))
    batch = [_message(_BATCH_BEGIN, 0, 0, struct.pack(">BBH", 0, 0, _NF_TABLES))]
    for number, (kind, flags, body) in enumerate(messages, 1):
        batch.append(_message(kind, flags | _ACK, number, body))
    batch.append(_message(_BATCH_END, 0, 0, struct.pack(">BBH", 0, 0, _NF_TABLES)))
    _send_messages(_NETLINK_NETFILTER, batch, set(range(1, len(messages) + 1)))


# --- messages


def _attribute(kind: int, value: bytes) -> bytes:
    padding = -len(value) % 4
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(padding)


def _text(kind: int, value: str) -> bytes:
    return _attribute(kind, value.encode() + b"\0")


def _number(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack(">i", value))


def _message(kind: int, flags: int, number: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | flags, number, 0) + body


def _send_messages(process_tree: int, messages: list[bytes], awaited: set[int]) -> None:
    """Send messages, and wait until the kernel has acknowledged the awaited ones."""
    with socket.socket(
        socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, process_tree
    ) as netlink_socket:
        netlink_socket.settimeout(10)
        netlink_socket.bind((0, 0))
        netlink_socket.send(b"".join(messages))
        while awaited:
            data = netlink_socket.recv(1 << 16)
            while len(data) >= _HEADER.size:
                length, kind, _, number, _ = _HEADER.unpack_from(data)
                if kind == _ERROR:
                    code = -struct.unpack_from("=i", data, _HEADER.size)[0]
                    if code:
                        raise OSError(code, f"netlink message {number}: {os.strerror(code)}")
                    awaited.discard(number)
                if length < _HEADER.size:
                    raise OSError(errno.EBADMSG, "the kernel's answer has no length")
                data = data[(length + 3) & ~3 :]


# --- packet rules


def _of_tables(kind: int, flags: int, body: bytes) -> tuple[int, int, bytes]:
    return (_NF_TABLES << 8) | kind, flags, struct.pack(">BBH", _IPV4, 0, 0) + body


def _chain(name: str, kind: str, priority: int) -> bytes:
    hook = _number(1, _LOCAL_OUT) + _number(2, priority)
    return (
        _text(1, TABLE)
        + _text(3, name)
        + _attribute(4 | _NESTED, hook)
        + _number(5, _ACCEPT)
        + _text(7, kind)
    )


def _expression(name: str, body: bytes) -> bytes:
    return _attribute(1 | _NESTED, _text(1, name) + _attribute(2 | _NESTED, body))


def _value(kind: int, value: bytes) -> bytes:
    return _attribute(kind | _NESTED, _attribute(1, value))


def _load_payload(base: int, offset: int, size: int) -> bytes:
    """Load bytes of the network (1) or the transport (2) header."""
    return _expression(
        "payload",
        _number(1, _REGISTER) + _number(2, base) + _number(3, offset) + _number(4, size),
    )


def _compare(value: bytes, *, equal: bool = True) -> bytes:
    return _expression("cmp", _number(1, _REGISTER) + _number(2, not equal) + _value(3, value))


def _is_protocol(number: int) -> bytes:
    load = _expression("meta", _number(1, _REGISTER) + _number(2, 16))
    return load + _compare(bytes([number]))


def _is_to_port(port: int) -> bytes:
    return _load_payload(2, 2, 2) + _compare(struct.pack(">H", port))


def _is_established() -> bytes:
    load = _expression("ct", _number(1, _REGISTER) + _number(2, 0))
    mask = _expression(
        "bitwise",
        _number(1, _REGISTER)
        + _number(2, _REGISTER)
        + _number(3, 4)
        + _value(4, struct.pack("=I", _ESTABLISHED_OR_RELATED))
        + _value(5, bytes(4)),
    )
    return load + mask + _compare(bytes(4), equal=False)


def _redirect_to(port: int) -> bytes:
    load = _expression("immediate", _number(1, _REGISTER) + _value(2, struct.pack(">H", port)))
    return load + _expression("redir", _number(1, _REGISTER) + _number(2, _REGISTER))


def _verdict(code: int) -> bytes:
    verdict = _attribute(2 | _NESTED, _number(1, code))
    return _expression("immediate", _number(1, 0) + _attribute(2 | _NESTED, verdict))


def _reject() -> bytes:
    return _expression("reject", _number(1, 0) + _attribute(2, bytes([_NET_PROHIBITED])))
