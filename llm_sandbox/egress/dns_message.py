"""DNS messages: the part of the format that a stub and its resolver need."""

import ipaddress
import struct
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "AAAA",
    "ANY",
    "NXDOMAIN",
    "OK",
    "SERVFAIL",
    "A",
    "FormatError",
    "Question",
    "Response",
    "make_answer",
    "make_query",
    "read_query",
    "read_response",
]

A, AAAA, ANY = 1, 28, 255
_CNAME = 5
_INTERNET = 1
OK, SERVFAIL, NXDOMAIN = 0, 2, 3
_HEADER = struct.Struct(">HHHHHH")
_FIXED = struct.Struct(">HHIH")
_IS_RESPONSE, _TRUNCATED = 0x8000, 0x0200
_RECURSION_WANTED, _RECURSION_HAD = 0x0100, 0x0080
_OPCODE = 0x7800
_LONGEST_NAME = 255
_MOST_POINTERS = 32
_MOST_RECORDS = 200


class FormatError(ValueError):
    """Invalid DNS message."""


@dataclass(frozen=True, slots=True)
class Question:
    """Question of a DNS query."""

    number: int
    flags: int
    name: str
    """In lower case, without a dot at its end; bytes that no host name has are ``\\ddd``."""
    kind: int
    raw: bytes
    """The encoded question, which an answer repeats byte for byte."""


@dataclass(frozen=True, slots=True)
class Response:
    """Answer of a DNS server."""

    code: int
    truncated: bool
    addresses: tuple[str, ...]


def read_query(data: bytes) -> Question:
    """Parse a query.

    Raises:
        FormatError: It is invalid, or not one question of the internet class.
    """
    # trust: comes from inside; every length is checked, and each pointer is followed once.
    if len(data) < _HEADER.size:
        raise FormatError("too short")
    number, flags, questions, _, _, _ = _HEADER.unpack_from(data)
    if flags & (_IS_RESPONSE | _OPCODE) or questions != 1:
        raise FormatError("not one question")
    name, at = _read_name(data, _HEADER.size)
    if len(data) < at + 4:
        raise FormatError("too short")
    kind, cls = struct.unpack_from(">HH", data, at)
    if cls != _INTERNET:
        raise FormatError("not of the internet")
    return Question(number, flags, name, kind, data[_HEADER.size : at + 4])


def make_answer(
    question: Question, code: int, address: ipaddress.IPv4Address | None = None, ttl: int = 0
) -> bytes:
    """Return the encoded answer to a question, with at most one address."""
    flags = _IS_RESPONSE | _RECURSION_HAD | (question.flags & _RECURSION_WANTED) | code
    header = _HEADER.pack(question.number, flags, 1, address is not None, 0, 0)
    if address is None:
        return header + question.raw
    record = struct.pack(">H", 0xC000 | _HEADER.size) + _FIXED.pack(A, _INTERNET, ttl, 4)
    return header + question.raw + record + address.packed


def make_query(number: int, name: str, kind: int) -> bytes:
    """Return an encoded query.

    Raises:
        FormatError: The name is invalid.
    """
    labels = name.encode("ascii").split(b".")
    if not all(0 < len(label) < 64 for label in labels):
        raise FormatError("not a name")
    encoded = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    header = _HEADER.pack(number, _RECURSION_WANTED, 1, 0, 0, 0)
    return header + encoded + struct.pack(">HH", kind, _INTERNET)


def read_response(data: bytes, number: int, name: str, kind: int) -> Response:
    """Parse the addresses of one kind that a name has, through its aliases.

    Raises:
        FormatError: It is invalid, or the answer to another question.
    """
    # trust: comes from a server: lengths are checked, records and pointers are counted.
    if len(data) < _HEADER.size:
        raise FormatError("too short")
    its_number, flags, questions, answers, _, _ = _HEADER.unpack_from(data)
    if its_number != number or not flags & _IS_RESPONSE or questions != 1:
        raise FormatError("not the answer")
    question_name, at = _read_name(data, _HEADER.size)
    if question_name != name or data[at : at + 4] != struct.pack(">HH", kind, _INTERNET):
        raise FormatError("the answer to something else")
    at += 4
    aliases: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for _ in range(min(answers, _MOST_RECORDS)):
        owner, at = _read_name(data, at)
        if len(data) < at + _FIXED.size:
            break
        its_kind, cls, _, size = _FIXED.unpack_from(data, at)
        at += _FIXED.size
        value = data[at : at + size]
        if cls == _INTERNET and its_kind == _CNAME:
            aliases[owner] = _read_name(data, at)[0]
        elif cls == _INTERNET and its_kind == kind and len(value) == size:
            found.setdefault(owner, []).append(_address(value, kind))
        at += size
    return Response(flags & 15, bool(flags & _TRUNCATED), tuple(_follow(name, aliases, found)))


def _follow(name: str, aliases: dict[str, str], found: dict[str, list[str]]) -> Sequence[str]:
    for _ in range(len(aliases) + 1):
        if name in found:
            return found[name]
        name = aliases.get(name, "")
    return ()


def _address(value: bytes, kind: int) -> str:
    try:
        return str(ipaddress.IPv4Address(value) if kind == A else ipaddress.IPv6Address(value))
    except ValueError:
        raise FormatError("no address") from None


def _read_name(data: bytes, at: int) -> tuple[str, int]:
    """Return the name that starts at an offset, and the offset after it."""
    labels: list[str] = []
    end = None
    length = 0
    for _ in range(_LONGEST_NAME + _MOST_POINTERS):
        if at >= len(data):
            break
        size = data[at]
        if size & 0xC0 == 0xC0:
            if at + 1 >= len(data):
                break
            end = at + 2 if end is None else end
            target = struct.unpack_from(">H", data, at)[0] & 0x3FFF
            if not _HEADER.size <= target < at:  # backwards only: it comes to an end
                break
            at = target
            continue
        if size & 0xC0:
            break
        if size == 0:
            return ".".join(labels), at + 1 if end is None else end
        label = data[at + 1 : at + 1 + size]
        length += size + 1
        if len(label) != size or length > _LONGEST_NAME:
            break
        labels.append(_text(label))
        at += 1 + size
    raise FormatError("not a name")


def _text(label: bytes) -> str:
    return "".join(
        chr(byte).lower() if 32 < byte < 127 and byte not in b".\\" else f"\\{byte:03d}"
        for byte in label
    )
