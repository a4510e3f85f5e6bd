# Looks for anything to talk to. ARGUMENTS: port, abstract. Sends no packet: UDP is only connected.
import errno
import json
import socket
import time

found = {}


def attempt(name, action):
    try:
        action()
        found[name] = "ok"
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno, str(error.errno))


def connect(family, kind, address):
    with socket.socket(family, kind) as sock:
        sock.settimeout(3)
        sock.connect(address)


attempt("tcp4", lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", ARGUMENTS["port"])))
attempt("abstract", lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + ARGUMENTS["abstract"]))
attempt("udp4", lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 9)))
attempt("udp6", lambda: connect(socket.AF_INET6, socket.SOCK_DGRAM, ("2001:db8::1", 9)))
found["interfaces"] = sorted(name for _, name in socket.if_nameindex())
started = time.monotonic()
try:
    socket.getaddrinfo("redteam-label.invalid", 80)
    found["dns"] = "ok"
except OSError:
    found["dns"] = "error"
found["dns_s"] = time.monotonic() - started
families = {}
for family in range(46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        for protocol in (0, 9, 15):
            try:
                socket.socket(family, kind, protocol).close()
                families.setdefault(family, []).append((kind, protocol))
            except OSError:
                pass
found["families"] = sorted(families)
found["netlink"] = families.get(16, [])
found["raw"] = [f for f, kinds in families.items() if any(k == socket.SOCK_RAW for k, _ in kinds)]
found["protocols"] = []
for name, kind, protocol in (
    ("tcp", socket.SOCK_STREAM, 6),
    ("udp", socket.SOCK_DGRAM, 17),
    ("dccp", 6, 33),
    ("sctp", socket.SOCK_STREAM, 132),
    ("udplite", socket.SOCK_DGRAM, 136),
    ("mptcp", socket.SOCK_STREAM, 262),
):
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.socket(family, kind, protocol).close()
            found["protocols"].append(name)
        except OSError:
            pass
print(json.dumps(found))
