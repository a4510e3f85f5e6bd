"""Clients and attackers inside a sandbox: a stand-alone program with JSON requests and answers.

Each act returns what it got: a text, or the name of the error that stopped it.
"""

from __future__ import annotations

import contextlib
import encodings.idna  # noqa: F401 - used by name lookups, and not readable by everybody
import errno
import json
import os
import socket
import ssl
import struct
import sys
import time

WAIT_S = 15.0


def ask(name: str, server: str = "10.255.0.53", kind: int = 1, over_tcp: bool = False) -> list[str]:
    """The addresses that a DNS server gives a name, with the answer's code before them."""
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, kind, 1)
    if over_tcp:
        with socket.create_connection((server, 53), WAIT_S) as line:
            line.sendall(struct.pack(">H", len(query)) + query)
            answer = line.recv(4096)[2:]
    else:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.settimeout(WAIT_S)
            line.connect((server, 53))
            line.send(query)
            answer = line.recv(4096)
    flags, _, count = struct.unpack_from(">HHH", answer, 2)
    code = {0: "OK", 2: "SERVFAIL", 3: "NXDOMAIN"}.get(flags & 15, str(flags & 15))
    return [code, *([socket.inet_ntoa(answer[-4:])] if count else [])]


def place(host: str) -> str:
    """An address: names are asked for as a program would."""
    if host.replace(".", "").isdigit() or ":" in host:
        return host
    code, *addresses = ask(host)
    if not addresses:
        raise LookupError(code)
    return addresses[0]


def tcp(host: str, port: int = 80, ends: bool = False) -> str:
    with socket.create_connection((place(host), port), WAIT_S) as sock:
        if ends:
            sock.shutdown(socket.SHUT_WR)
        return sock.makefile().readline().strip() or "ended"


def udp(host: str, port: int, text: str = "hello") -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(WAIT_S)
        sock.connect((host, port))
        sock.send(text.encode())
        return sock.recv(4096).decode()


def lookup(name: str, *options: object) -> str:
    return " ".join(ask(name, *options))  # type: ignore[arg-type]


def raw(host: str, family: str = "ip") -> str:
    """Send a datagram past the rules for datagrams: as a raw packet, or as a raw frame."""
    payload = b"raw " + family.encode()
    datagram = struct.pack(">HHHH", 40000, 123, 8 + len(payload), 0) + payload
    header = struct.pack(
        ">BBHHHBBH4s4s",
        *(0x45, 0, 20 + len(datagram), 1, 0, 64, 17, 0),
        socket.inet_aton("192.0.2.7"),
        socket.inet_aton(host),
    )
    total = sum(struct.unpack(">10H", header))
    header = header[:10] + struct.pack(">H", 0xFFFF - (total % 0xFFFF)) + header[12:]
    if family == "ip":
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as sock:
            sock.sendto(header + datagram, (host, 0))
        return "sent"
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0x0800) as sock:
        names = [name for _, name in socket.if_nameindex() if name in ("near", "lo")]
        for name in names:
            sock.sendto(header + datagram, (name, 0x0800, 0, 0, b"\xff" * 6))
    return f"sent over {len(names)}"


def transport(name: str, host: str, port: int = 80) -> str:
    """Another transport than TCP and UDP; whether somebody answered."""
    kind, number = {
        "mptcp": (socket.SOCK_STREAM, 262),
        "sctp": (socket.SOCK_STREAM, 132),
        "udplite": (socket.SOCK_DGRAM, 136),
        "dccp": (6, 33),
    }[name]
    with socket.socket(socket.AF_INET, kind, number) as sock:
        sock.settimeout(3)
        sock.connect((host, port))
        sock.send(b"hello\n")
        return sock.recv(100).decode().partition("\n")[0]


def ping(host: str) -> str:
    """An echo request by raw socket."""
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as sock:
        sock.settimeout(3)
        sock.sendto(b"\x08\x00\xf7\xfe\x00\x01\x00\x00", (host, 0))
        while True:
            answer = sock.recv(4096)
            if answer[20] == 0:
                return "answered"


def mapped(host: str, port: int = 80) -> str:
    """IPv4 by a socket for IPv6."""
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as sock:
        sock.settimeout(WAIT_S)
        sock.connect((f"::ffff:{host}", port))
        return sock.makefile().readline().strip() or "ended"


def tls(host: str, asked: str, port: int = 8443) -> str:
    """Connect to one name and ask the server for another by TLS; what the server got of it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    wrapped = context.wrap_bio(incoming, outgoing, server_hostname=asked or None)
    with contextlib.suppress(ssl.SSLWantReadError):
        wrapped.do_handshake()
    hello = outgoing.read()
    with socket.create_connection((place(host), port), WAIT_S) as sock:
        # Piece by piece: whoever looks has to wait for all of it.
        for piece in (hello[:1], hello[1:7], hello[7:90], hello[90:]):
            sock.sendall(piece)
            time.sleep(0.02)
        sock.shutdown(socket.SHUT_WR)
        with sock.makefile("rb") as reader:
            return "echo" if reader.read() == hello else "no echo"


def main() -> None:
    if len(sys.argv) > 2:
        os.setgroups([])
        os.setresgid(*(int(sys.argv[2]),) * 3)
        os.setresuid(*(int(sys.argv[2]),) * 3)
    results = []
    for act, arguments in json.loads(sys.argv[1]):
        started = time.monotonic()
        try:
            result = globals()[act](*arguments)
        except OSError as error:
            result = errno.errorcode.get(error.errno or 0, type(error).__name__)
        except LookupError as error:
            result = str(error.args[0])
        if time.monotonic() - started > WAIT_S - 2:
            result += " (it hung)"
        results.append(result)
    print(json.dumps(results))


main()
