"""Process that opens the sockets of a gate in a network namespace, and redirects traffic to them.

It is short-lived and belongs to the trusted side.

Started as ``python -I -S -c 'from guest import netns_sockets; netns_sockets.main(FD)'``. The
descriptor is a control connection, on which it receives ``{process, ports, redirect}`` once:

    process   a process in the namespace
    ports     where to listen if the kernel cannot redirect; null for all ports
    redirect  whether a redirection by the kernel is tried

and answers with the sockets and ``{state, kinds}``: ``more``, until ``ready``; or ``no_ports`` or
``failed``. A socket belongs to the namespace in which it was made, whichever process holds it.
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
    """Network namespace that a gate cannot use."""


def main(fd: int) -> None:
    """Entry point."""
    channel = ControlChannel(socket.socket(fileno=fd))
    record = channel.receive()
    if record is None:
        return
    request, _ = record
    try:
        enter(request["process"])
        check_alone()
        redirected, sockets = open_sockets(request["ports"], allow_redirect=request["redirect"])
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
        NetnsError: It is the namespace of this process.
    """
    fd = os.open(f"/proc/{process}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if os.fstat(fd).st_ino == os.stat("/proc/self/ns/net").st_ino:
            raise NetnsError(f"process {process} is in the network of the host")
        try:
            linux.setns(fd, linux.CLONE_NEWNET)
        except PermissionError:
            # Only a process in the owning user namespace may. A sandbox's processes may be in a
            # user namespace below it, which does not suffice.
            owner = fcntl.ioctl(fd, _GET_OWNER)
            try:
                linux.setns(owner, linux.CLONE_NEWUSER)
            finally:
                os.close(owner)
            linux.setns(fd, linux.CLONE_NEWNET)
    finally:
        os.close(fd)


def check_alone() -> None:
    """Check that no interface but loopback is up.

    Raises:
        NetnsError: Another interface is up.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as probe:
        for _, name in socket.if_nameindex():
            if name == "lo":
                continue
            answer = fcntl.ioctl(probe, _GET_FLAGS, struct.pack("16sh14x", name.encode(), 0))
            if struct.unpack_from("16sh", answer)[1] & _UP:
                raise NetnsError(f"the network has another interface {name}, which no gate guards")


def open_sockets(
    ports: Sequence[int] | None, *, allow_redirect: bool = True
) -> tuple[bool, list[tuple[str, socket.socket]]]:
    """Open the sockets in this process's network namespace, and redirect traffic to them.

    Args:
        ports: Where to listen if the kernel cannot redirect; None for all ports.
        allow_redirect: Whether a redirection by the kernel is tried.

    Returns:
        Whether the kernel redirects; and kinds with sockets, empty when it does not redirect and
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
        except OSError:  # without nf_tables, or not for namespaces of ordinary users
            for _, sock in sockets:
                sock.close()
        else:
            # Last: an earlier connection would be neither redirected nor accepted.
            netlink.add_local_default()
            return True, sockets
    if ports is None or len(ports) > _MOST_PORTS:
        return False, []
    # Every address is this namespace's own, so that a listener accepts on each of them.
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
            # The address of a query is the source of its answer.
            sock.setsockopt(socket.IPPROTO_IP, _PKTINFO, 1)
        sock.bind((address, port))
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise NetnsError(f"port {port} in the namespace is in use already") from None
        raise
    return sock


_PKTINFO = 8  # socket.IP_PKTINFO, which Python 3.11 lacks
