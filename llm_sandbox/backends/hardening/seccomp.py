"""Seccomp filter from the system call table, assembled without a C library.

A filter is an array of classic BPF instructions over `struct seccomp_data`: the call's number at
offset 0, the architecture at 4, and 64-bit arguments from 16 on. Only the low words of arguments
are compared: every argument judged here (socket family, ioctl command, clone flags, personality,
mode) is a 32-bit value in the kernel.
"""

import errno
import struct
from functools import cache
from typing import Final

from llm_sandbox.backends.hardening.syscalls import (
    ARCHITECTURES,
    FILTERED,
    MEMORY_OBJECTS,
    NEWEST,
    REFUSED_ENOSYS,
    REFUSED_EPERM,
    SET_ID_MODES,
    SET_ID_UNSEEN,
    X32_BIT,
)

__all__ = ["build_filter"]

_LOAD, _JEQ, _JGT, _JGE, _JSET, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET = 0, 4
_ALLOW, _KILL_PROCESS, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000

_NEW_NAMESPACES: Final = 0x7E020080
"""Every CLONE_NEW* flag."""

_DEVICE_BIT: Final = 0x2000
"""Set in a file mode for character and block devices, not for files, pipes and sockets."""

_SET_ID_BITS: Final = 0xC00
"""Set-user-id and set-group-id bits of a file mode."""

_MODE_ARGUMENTS: Final = {
    "chmod": 1,
    "creat": 1,
    "fchmod": 1,
    "fchmodat": 2,
    "fchmodat2": 2,
    "mknod": 1,
    "mknodat": 2,
    "open": 2,
    "openat": 3,
}
"""Index of the mode argument of each call in `SET_ID_MODES`."""

_FLAG_ARGUMENTS: Final = {"open": 1, "openat": 2}
"""Index of the flags argument, without whose creation flags the mode is undefined."""

_MAKES_A_FILE: Final = 0x400040
"""O_CREAT and O_TMPFILE, equal on both architectures."""

_UNIX: Final = 1
_INTERNET: Final = (2, 10)
"""AF_INET, AF_INET6."""

_PROTOCOLS: Final = (0, 1, 6, 17, 58)
"""The default of the socket type, ICMP, TCP, UDP and ICMPv6. Not MPTCP, UDP-Lite, SCTP and DCCP:
rarely used kernel code, and traffic that firewalls rarely inspect."""

_NETLINK, _NETLINK_ROUTE = 16, 0
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_QUERY_PERSONALITY: Final = 0xFFFFFFFF


def _argument(index: int) -> int:
    return 16 + 8 * index


class _Program:
    """Sequence of instructions. Each block leaves the call's number loaded, or returns."""

    def __init__(self) -> None:
        self._instructions: list[tuple[int, int, int, int]] = []

    def add(self, code: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        self._instructions.append((code, if_true, if_false, value))

    def give(self, verdict: int) -> None:
        self.add(_RETURN, verdict)

    def append(self, block: "_Program") -> None:
        self._instructions += block._instructions

    def when_number(self, number: int | None, block: "_Program") -> None:
        """Add a block for the call `number`; it must return on every path."""
        if number is None:
            return
        self.add(_JEQ, number, 0, len(block._instructions))
        self.append(block)

    def assemble(self) -> bytes:
        return b"".join(struct.pack("<HBBI", *row) for row in self._instructions)


def _error(code: int) -> int:
    return _ERROR | code


def _refuse_if_any_bit(argument: int, bits: int, code: int) -> _Program:
    block = _Program()
    block.add(_LOAD, _argument(argument))
    block.add(_JSET, bits, 0, 1)
    block.give(_error(code))
    block.give(_ALLOW)
    return block


def _refuse_set_id_bits(name: str) -> _Program:
    bits = _SET_ID_BITS | (_DEVICE_BIT if name in FILTERED else 0)
    refusal = _refuse_if_any_bit(_MODE_ARGUMENTS[name], bits, errno.EPERM)
    if name not in _FLAG_ARGUMENTS:
        return refusal
    block = _Program()
    block.add(_LOAD, _argument(_FLAG_ARGUMENTS[name]))
    block.add(_JSET, _MAKES_A_FILE, 1, 0)
    block.give(_ALLOW)
    block.append(refusal)
    return block


def _socket_families(*, netlink: bool) -> _Program:
    block = _Program()
    block.add(_LOAD, _argument(0))
    block.add(_JEQ, _UNIX, 0, 1)
    block.give(_ALLOW)
    protocols = _allow_values(2, _PROTOCOLS, errno.EPROTONOSUPPORT)
    for family in _INTERNET:
        block.add(_JEQ, family, 0, len(protocols._instructions))
        block.append(protocols)
    if netlink:
        # Routing information only: what getifaddrs() in libzmq and libuv needs.
        block.add(_JEQ, _NETLINK, 0, 3)
        block.add(_LOAD, _argument(2))
        block.add(_JEQ, _NETLINK_ROUTE, 0, 1)
        block.give(_ALLOW)
    block.give(_error(errno.EAFNOSUPPORT))
    return block


def _refuse_values(argument: int, values: tuple[int, ...], code: int) -> _Program:
    block = _Program()
    block.add(_LOAD, _argument(argument))
    for value in values:
        block.add(_JEQ, value, 0, 1)
        block.give(_error(code))
    block.give(_ALLOW)
    return block


def _allow_values(argument: int, values: tuple[int, ...], code: int) -> _Program:
    block = _Program()
    block.add(_LOAD, _argument(argument))
    for value in values:
        block.add(_JEQ, value, 0, 1)
        block.give(_ALLOW)
    block.give(_error(code))
    return block


@cache
def build_filter(
    architecture: str, *, memory_objects: bool = True, set_id_bits: bool = True
) -> bytes:
    """Return the filter program for a machine.

    Args:
        architecture: As `platform.machine` names it: ``x86_64`` or ``aarch64``.
        memory_objects: Whether memory may be held by a descriptor or a key, which only a control
            group counts.
        set_id_bits: Whether files may get the set-user-id and set-group-id bits. In a folder of the
            host they would have effect on the host, where the file's owner may be root.

    Returns:
        An array of 8-byte instructions, ready for ``prctl(PR_SET_SECCOMP)`` or ``bwrap --seccomp``.

    Raises:
        KeyError: The table does not have this architecture.
    """
    column, audit_number = ARCHITECTURES[architecture]
    program = _Program()
    program.add(_LOAD, _ARCHITECTURE_OFFSET)
    program.add(_JEQ, audit_number, 1, 0)
    program.give(_KILL_PROCESS)
    program.add(_LOAD, _NUMBER_OFFSET)
    if architecture == "x86_64":
        program.add(_JGE, X32_BIT, 0, 1)
        program.give(_error(errno.ENOSYS))
    program.add(_JGT, NEWEST, 0, 1)
    program.give(_error(errno.ENOSYS))
    tables = [(REFUSED_EPERM, errno.EPERM), (REFUSED_ENOSYS, errno.ENOSYS)]
    if not memory_objects:
        tables.append((MEMORY_OBJECTS, errno.ENOSYS))
    if not set_id_bits:
        tables.append((SET_ID_UNSEEN, errno.ENOSYS))
    for table, code in tables:
        refusal = _Program()
        refusal.give(_error(code))
        for numbers in table.values():
            program.when_number(numbers[column], refusal)
    if not set_id_bits:
        # Before the rules for devices, whose bit it refuses as well.
        for name, numbers in SET_ID_MODES.items():
            program.when_number(numbers[column], _refuse_set_id_bits(name))
    for name, block in (
        ("clone", _refuse_if_any_bit(0, _NEW_NAMESPACES, errno.EPERM)),
        ("mknod", _refuse_if_any_bit(1, _DEVICE_BIT, errno.EPERM)),
        ("mknodat", _refuse_if_any_bit(2, _DEVICE_BIT, errno.EPERM)),
        ("socket", _socket_families(netlink=True)),
        ("socketpair", _socket_families(netlink=False)),
        ("ioctl", _refuse_values(1, (_TIOCSTI, _TIOCLINUX), errno.EPERM)),
        ("personality", _allow_values(0, (0, _QUERY_PERSONALITY), errno.EPERM)),
    ):
        program.when_number(FILTERED[name][column], block)
    program.give(_ALLOW)
    return program.assemble()
