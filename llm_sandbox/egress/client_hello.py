"""Parser of the TLS ClientHello: the server name that a client requests."""

import re
import struct
from dataclasses import dataclass
from typing import Literal

__all__ = ["MOST", "Hello", "examine", "objection"]

MOST = 1 << 16
"""Bytes of the longest ClientHello that is read."""

_HANDSHAKE_RECORD, _CLIENT_HELLO = 22, 1
_SERVER_NAME, _ENCRYPTED_HELLO = 0, 0xFE0D
_LONGEST_RECORD = (1 << 14) + 256
_NAME = re.compile(r"[a-z0-9._-]{1,253}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Hello:
    """Server name indication of a ClientHello."""

    name: str | None
    """In lower case; None where none is requested."""
    encrypted: bool
    """Whether there is an encrypted name besides (ECH)."""


def examine(data: bytes) -> Hello | Literal["more", "other", "malformed"]:
    """Parse the first bytes that a client sends.

    Returns:
        The requested name; or ``more`` if the message is incomplete, ``other`` if it is not TLS,
        and ``malformed`` if it begins like TLS and is invalid.
    """
    # trust: comes from inside; lengths are checked, and anything unknown is refused.
    if data[:2] != bytes((_HANDSHAKE_RECORD, 3))[: len(data)]:
        return "other"
    message = b""
    at = 0
    while len(data) >= at + 5:
        kind, size = data[at], struct.unpack_from(">H", data, at + 3)[0]
        if kind != _HANDSHAKE_RECORD or not 0 < size <= _LONGEST_RECORD:
            return "malformed"
        message += data[at + 5 : at + 5 + size]
        at += 5 + size
        if message[:1] not in (b"", bytes((_CLIENT_HELLO,))):
            return "malformed"
        if len(message) >= 4 and len(message) >= 4 + int.from_bytes(message[1:4], "big"):
            return _read(_Reader(message[4 : 4 + int.from_bytes(message[1:4], "big")]))
    return "more" if len(data) < MOST else "malformed"


def objection(hello: Hello | str, name: str | None, *, strict: bool) -> str | None:
    """Return the reason why a ClientHello does not match the resolved name; None if it does."""
    if not isinstance(hello, Hello):
        return "tls_malformed" if hello == "malformed" else None
    if hello.name is not None and hello.name != name:
        return "tls_name"
    if strict and hello.name is None:
        return "tls_no_name"
    if strict and hello.encrypted:
        return "tls_encrypted_name"
    return None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def take(self, size: int) -> bytes:
        if len(self.data) < size:
            raise ValueError("too short")
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, size: int) -> "_Reader":
        return _Reader(self.take(self.number(size)))


def _read(body: _Reader) -> Hello | Literal["malformed"]:
    name, encrypted = None, False
    try:
        body.take(2 + 32)
        for size in (1, 2, 1):  # session, cipher suites, compression
            body.vector(size)
        extensions = body.vector(2) if body.data else body
        while extensions.data:
            kind, value = extensions.number(2), extensions.vector(2)
            encrypted |= kind == _ENCRYPTED_HELLO
            if kind == _SERVER_NAME:
                if name is not None:
                    return "malformed"
                name = _server_name(value)
    except ValueError:
        return "malformed"
    return Hello(name, encrypted)


def _server_name(value: _Reader) -> str:
    names = value.vector(2)
    kind, name = names.number(1), names.vector(2)
    # Of several names, servers take different ones.
    if kind != 0 or names.data or value.data:
        raise ValueError("not one name")
    text = name.data.decode("ascii").lower().removesuffix(".")
    if not _NAME.fullmatch(text):
        raise ValueError("not a name")
    return text
