"""Makes a network namespace lead to a gate outside: a short-lived process of the trusted side.

Started as ``python -I -S -c 'from guest import netns_sockets; netns_sockets.main(FD)'``. The
descriptor is a
control connection, on which it is told ``{process, ports, redirect}`` once:

    process   a process in the namespace
    ports     where to listen if the kernel cannot redirect; null for everywhere
    redirect  whether the kernel may be asked to

and answers with the sockets and ``{state, kinds}``: ``more``, until ``ready``; or ``no_ports`` or
``failed``. A socket belongs to the namespace in which it was made, whoever holds it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct
from collections.abc import Sequence

from . import linux, netlink
from .control import ControlChannel

_GET_OWNER = 0xB701  # NS_GET_USERNS
_GET_FLAGS = 0x8913  # SIOCGIFFLAGS
_UP = 1
_BACKLOG = 1024
_MOST_AT_ONCE = 8
_MOST_PORTS = 256


class NetnsError(Exception):
    """The namespace is not one to plant in."""


def main(fd: int) -> None:
    """Entry point."""
    channel = ControlChannel(socket.socket(fileno=fd))
    record = channel.receive()
    if record is None:
        return
    asked, _ = record
    try:
        enter(asked["process"])
        check_alone()
        redirected, sockets = open_sockets(asked["ports"], allow_redirect=asked["redirect"])
    except (OSError, NetnsError) as error:
        channel.send({"state": "failed", "error": str(error)})
        return
    if not sockets:
        channel.send({"state": "no_ports"})
        return
    for start in range(0, len(sockets), _MOST_AT_ONCE):
        part = sockets[start : start + _MOST_AT_ONCE]
        kinds = [kind for kind, _ in part]
        channel.send({"state": "more", "kinds": kinds}, [sock.fileno() for _, sock in part])
    channel.send({"state": "ready", "redirected": redirected})


def enter(process: int) -> None:
    """Join the network namespace of a process, for good.

    Raises:
        OSError: The process has ended, or the namespace is not this user's.
        NetnsError: It is the namespace that this process is in already.
    """
    fd = os.open(f"/proc/{process}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if os.fstat(fd).st_ino == os.stat("/proc/self/ns/net").st_ino:
            raise NetnsError(f"process {process} is in the network of the host")
        try:
            linux.setns(fd, linux.CLONE_NEWNET)
        except PermissionError:
            # Only who is in the namespace's owner may. A sandbox's processes may be in a user
            # namespace below that one, which would not do.
            owner = fcntl.ioctl(fd, _GET_OWNER)
            try:
                linux.setns(owner, linux.CLONE_NEWUSER)
            finally:
                os.close(owner)
            linux.setns(fd, linux.CLONE_NEWNET)
    finally:
        os.close(fd)


def check_alone() -> None:
    """Make sure that nothing but loopback leads out of here.

    Raises:
        NetnsError: There is another interface that is up.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as probe:
        for _, name in socket.if_nameindex():
            if name == "lo":
                continue
            answer = fcntl.ioctl(probe, _GET_FLAGS, struct.pack("16sh14x", name.encode(), 0))
            if struct.unpack_from("16sh", answer)[1] & _UP:
                raise NetnsError(f"the network has an interface {name}, past which nothing is held")


def open_sockets(
    ports: Sequence[int] | None, *, allow_redirect: bool = True
) -> tuple[bool, list[tuple[str, socket.socket]]]:
    """Set this process's network namespace up, and make the sockets.

    Args:
        ports: Where to listen if the kernel cannot redirect; None for everywhere.
        allow_redirect: Whether the kernel may be asked to.

    Returns:
        Whether the kernel redirects; and kinds with sockets, none when it does not redirect and
        there are no ports or too many of them.
    """
    linux.loopback_up()
    if allow_redirect:
        sockets = [
            ("tcp", _listen("127.0.0.1", 0)),
            ("dns_udp", _bind("127.0.0.1", 0)),
            ("dns_tcp", _listen("127.0.0.1", 0)),
        ]
        tcp, dns_udp, dns_tcp = (sock.getsockname()[1] for _, sock in sockets)
        try:
            netlink.redirect(tcp, dns_udp, dns_tcp)
        except OSError:  # no nf_tables, or none for namespaces of ordinary users
            for _, sock in sockets:
                sock.close()
        else:
            # Last: before, a connection would have met nobody, and not been redirected either.
            netlink.add_local_default()
            return True, sockets
    if ports is None or len(ports) > _MOST_PORTS:
        return False, []
    # Every address is this namespace's own, so that a listener is met at each of them.
    sockets = [("tcp", _listen("0.0.0.0", port)) for port in ports if port != 53]  # noqa: S104
    sockets += [("dns_udp", _bind("0.0.0.0", 53)), ("dns_tcp", _listen("0.0.0.0", 53))]  # noqa: S104
    netlink.add_local_default()
    return False, sockets


def _listen(address: str, port: int) -> socket.socket:
    sock = _bind(address, port, socket.SOCK_STREAM)
    sock.listen(_BACKLOG)
    return sock


def _bind(address: str, port: int, kind: int = socket.SOCK_DGRAM) -> socket.socket:
    sock = socket.socket(socket.AF_INET, kind | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    try:
        if kind == socket.SOCK_DGRAM:
            # Which of all addresses a question was sent to: the answer has to come from there.
            sock.setsockopt(socket.IPPROTO_IP, _PKTINFO, 1)
        sock.bind((address, port))
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise NetnsError(f"something listens on port {port} in there already") from None
        raise
    return sock


_PKTINFO = 8  # socket.IP_PKTINFO, which Python 3.11 lacks
