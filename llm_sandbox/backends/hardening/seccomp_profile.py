"""Seccomp profile of container engines: the system call table as JSON.

The same rules as the program that `seccomp` builds, with these differences, which are those of the
format and not of the rules:

- A profile names calls. Numbers above the newest known call cannot be expressed, so such calls are
  allowed here and answer ENOSYS there; so is a call whose name the engine's libseccomp does not
  know yet. A container's supervisor therefore puts the program on user code as well.
- A call from x86_64's second table (x32) or from a 32-bit table ends the process here, by
  libseccomp's own rule; there the first of them answers ENOSYS.

Process 1 of a container and everything else in it run under the profile, user code or not.
"""

import errno
import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from llm_sandbox.backends.hardening import seccomp
from llm_sandbox.backends.hardening.syscalls import (
    MEMORY_OBJECTS,
    REFUSED_ENOSYS,
    REFUSED_EPERM,
    SET_ID_MODES,
    SET_ID_UNSEEN,
)

__all__ = ["build_profile", "profile_text"]

_WORD: Final = 0xFFFFFFFF
_WORD_BITS: Final = 32

_ARCHITECTURES: Final = ("SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64")

_Bits = tuple[int, int, int]
"""Index of an argument, a mask, and the required value under the mask."""


def _refuse(names: Sequence[str], code: int, *conditions: _Bits) -> dict[str, Any]:
    # Arguments are 64 bits wide here, and the kernel looks at the low word of those judged: without
    # the mask, a bit in the high word would get past every comparison.
    return {
        "names": list(names),
        "action": "SCMP_ACT_ERRNO",
        "errnoRet": code,
        "args": [
            {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
            for index, mask, value in conditions
        ],
    }


def _all_but(
    allowed: Sequence[int], first: int = 0, bits: int = _WORD_BITS
) -> Iterator[tuple[int, int]]:
    """Masks, each with a value: every word but the allowed ones has the value under its mask.

    Only refusals can be written where the default is to allow, and engines join several conditions
    on one argument by "or": what is not in a set has to be said by blocks of equal leading bits.
    """
    size = 1 << bits
    if not any(first <= value < first + size for value in allowed):
        yield _WORD ^ (size - 1), first
    elif bits:
        yield from _all_but(allowed, first, bits - 1)
        yield from _all_but(allowed, first + size // 2, bits - 1)


def _filtered() -> Iterator[dict[str, Any]]:
    """Return the rules for calls that are filtered by their arguments."""
    for bit in _bits(seccomp._NEW_NAMESPACES):
        yield _refuse(["clone"], errno.EPERM, (0, bit, bit))
    device = seccomp._DEVICE_BIT
    yield _refuse(["mknod"], errno.EPERM, (1, device, device))
    yield _refuse(["mknodat"], errno.EPERM, (2, device, device))
    for command in (seccomp._TIOCSTI, seccomp._TIOCLINUX):
        yield _refuse(["ioctl"], errno.EPERM, (1, _WORD, command))
    for mask, value in _all_but((0, seccomp._QUERY_PERSONALITY)):
        yield _refuse(["personality"], errno.EPERM, (0, mask, value))
    netlink = (0, _WORD, seccomp._NETLINK)
    for mask, value in _all_but((seccomp._UNIX, *seccomp._INTERNET, seccomp._NETLINK)):
        yield _refuse(["socket", "socketpair"], errno.EAFNOSUPPORT, (0, mask, value))
    yield _refuse(["socketpair"], errno.EAFNOSUPPORT, netlink)
    for mask, value in _all_but((seccomp._NETLINK_ROUTE,)):
        yield _refuse(["socket"], errno.EAFNOSUPPORT, netlink, (2, mask, value))
    # The two families differ in one bit.
    ipv4, ipv6 = seccomp._INTERNET
    internet = (0, _WORD ^ ipv4 ^ ipv6, ipv4 & ipv6)
    for mask, value in _all_but(seccomp._PROTOCOLS):
        yield _refuse(["socket", "socketpair"], errno.EPROTONOSUPPORT, internet, (2, mask, value))


def _set_id_modes() -> Iterator[dict[str, Any]]:
    """Return the rules for calls that set the set-user-id and set-group-id bits."""
    for name in SET_ID_MODES:
        mode = seccomp._MODE_ARGUMENTS[name]
        flags = seccomp._FLAG_ARGUMENTS.get(name)
        for bit in _bits(seccomp._SET_ID_BITS):
            if flags is None:
                yield _refuse([name], errno.EPERM, (mode, bit, bit))
                continue
            for made in _bits(seccomp._MAKES_A_FILE):
                yield _refuse([name], errno.EPERM, (flags, made, made), (mode, bit, bit))


def _bits(word: int) -> Iterator[int]:
    return (1 << bit for bit in range(_WORD_BITS) if word & 1 << bit)


def build_profile(*, memory_objects: bool = True, set_id_bits: bool = True) -> dict[str, Any]:
    """Return the profile, for all architectures of the table.

    Args:
        memory_objects: Whether memory may be held by a descriptor or a key, which only a control
            group counts.
        set_id_bits: Whether files may get the set-user-id and set-group-id bits. In a folder of the
            host they would have effect on the host.

    Returns:
        The profile as Docker, Podman and the tools that share their format read it.
    """
    unknown = {
        **REFUSED_ENOSYS,
        **({} if memory_objects else MEMORY_OBJECTS),
        **({} if set_id_bits else SET_ID_UNSEEN),
    }
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        # The engine takes the entry of its own architecture. The empty lists keep out the 32-bit
        # tables, which Docker's own profile lets in.
        "archMap": [{"architecture": name, "subArchitectures": []} for name in _ARCHITECTURES],
        "syscalls": [
            _refuse(sorted(REFUSED_EPERM), errno.EPERM),
            _refuse(sorted(unknown), errno.ENOSYS),
            *_filtered(),
            *(() if set_id_bits else _set_id_modes()),
        ],
    }


@cache
def profile_text(*, memory_objects: bool = True, set_id_bits: bool = True) -> str:
    """Return the profile as JSON, for ``seccomp=`` of an engine's ``security_opt``.

    Args:
        memory_objects: As for `build_profile`.
        set_id_bits: As for `build_profile`.
    """
    profile = build_profile(memory_objects=memory_objects, set_id_bits=set_id_bits)
    return json.dumps(profile, separators=(",", ":"))
