"""Linux system calls that the standard library lacks, through ctypes.

Python 3.12 has `os.unshare` and `os.setns`; 3.11 has neither, and mounts, capabilities, Landlock
and seccomp are in no version.
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import os
import socket
import stat
import struct
from collections.abc import Iterator

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_OVERRIDE = 1
_HIGHEST_CAPABILITY = 63

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _encode(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)


def unshare(flags: int) -> None:
    """Move the calling process into new namespaces of the kinds in `flags`."""
    _check(_libc.unshare(flags), "unshare")


def setns(fd: int, flags: int) -> None:
    """Join the namespaces of kinds `flags` of the process behind pidfd `fd` (Linux 5.8), or one
    namespace file.
    """
    _check(_libc.setns(fd, flags), "setns")


def mount(
    source: str | None, target: str, kind: str | None, flags: int = 0, data: str | None = None
) -> None:
    """Mount a file system, or a part of one, at `target`."""
    _check(
        _libc.mount(
            _encode(source), _encode(target), _encode(kind), ctypes.c_ulong(flags), _encode(data)
        ),
        f"mount {target}",
    )


def unmount(target: str, flags: int = 0) -> None:
    """Unmount `target` (umount2).

    Raises:
        OSError: It failed; the message names the target.
    """
    _check(_libc.umount2(_encode(target), flags), f"umount {target}")


def loopback_up() -> None:
    """Bring up `lo`, which a new network namespace has but leaves down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        fcntl.ioctl(probe, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def network_name(process: str | int = "self") -> str:
    """Return an identifier of a process's network namespace, unique among machines.

    It is empty where the kernel has no names for namespaces.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink(f'/proc/{process}/ns/net')}"
    except OSError:
        return ""


def set_hostname(name: str) -> None:
    """Set the host name of the calling process's UTS namespace."""
    encoded = name.encode()
    _check(_libc.sethostname(encoded, len(encoded)), "sethostname")


def set_process_name(name: str) -> None:
    """Set the name that `ps` shows (15 bytes at most)."""
    _libc.prctl(_PR_SET_NAME, name.encode()[:15], 0, 0, 0)


@functools.cache
def read_proc(name: str) -> bytes:
    """Return the content of a file of ``/proc``, with half of the system calls of `open`.

    Args:
        name: Its path below ``/proc``.
    """
    fd = os.open(f"/proc/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(fd, 8192), b""))
    finally:
        os.close(fd)


def command_line_area() -> tuple[int, int]:
    """Return the first and the last address of the command line, which forks share.

    Raises:
        OSError: /proc does not show the address of the command line.
    """
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    if not start or end - start < 2:
        raise OSError(errno.ENOTSUP, "the address of the command line is unknown")
    return start, end


def set_command_line(text: str) -> None:
    """Set the command line that /proc shows; a longer text than the present one is cut.

    Raises:
        OSError: /proc does not show the address of the command line.
    """
    start, end = command_line_area()
    room = end - start
    data = text.encode("utf-8", "surrogateescape")[: room - 2].ljust(room - 1, b"\0")
    # Without a zero at the end, Linux shows the text up to the first zero only.
    ctypes.memmove(start, data + b".", room)


def set_undumpable() -> None:
    """Make this process unreadable in /proc and untraceable for others of its user."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def set_dumpable() -> None:
    """Undo `set_undumpable`, and the same effect of a change of user id."""
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def open_pidfd(pid: int) -> int | None:
    """Open a pidfd of a process; None where the kernel has none, as gVisor's."""
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        return None


def set_user(user: int, group: int) -> None:
    """Become another user for good, in no other group."""
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(user, user, user)


def act_as_user(user: int, group: int) -> None:
    """Access files as another user, whose processes cannot signal or trace this one.

    The real and the saved user stay the same; without capabilities afterwards, they give no right.
    """
    os.setgroups([])
    os.setresgid(group, group, group)
    os.setresuid(-1, user, -1)


@contextlib.contextmanager
def file_user(user: int) -> Iterator[None]:
    """Access files as another user inside the block, in a process with one thread."""
    before = _libc.setfsuid(user)
    try:
        yield
    finally:
        _libc.setfsuid(before)


def set_parent_death_signal(signal_number: int) -> None:
    """Have the kernel send `signal_number` to this process when its parent thread ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0), "PR_SET_PDEATHSIG")


def set_child_subreaper() -> None:
    """Become the new parent of orphaned descendants."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "PR_SET_CHILD_SUBREAPER")


def set_no_new_privileges() -> None:
    """Forbid this process and its children ever to gain privileges through exec."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")


def drop_bounding_set() -> None:
    """Forbid every capability for good, where that is allowed."""
    for capability in range(_HIGHEST_CAPABILITY + 1):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # past the last capability this kernel knows


def use_capability(number: int, is_effective: bool) -> None:
    """Make a permitted capability effective, or not."""
    header = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0)
    sets = ctypes.create_string_buffer(24)
    _check(_libc.capget(header, sets), "capget")
    words = list(struct.unpack("<6I", sets.raw))
    bit = 1 << number % 32
    # For each half of the capabilities: effective, permitted and inheritable.
    effective = number // 32 * 3
    words[effective] = words[effective] & ~bit | (words[effective + 1] & bit if is_effective else 0)
    _check(_libc.capset(header, struct.pack("<6I", *words)), "capset")


def drop_all_capabilities() -> None:
    """Empty every capability set but the bounding set."""
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("<Ii", _CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, struct.pack("<6I", *(0,) * 6)), "capset")


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install_seccomp(program: bytes) -> None:
    """Install a seccomp filter: `program` is an array of 8-byte BPF instructions."""
    buffer = ctypes.create_string_buffer(program, len(program))
    record = _FilterProgram(len(program) // 8, ctypes.addressof(buffer))
    _check(
        _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(record), 0, 0),
        "PR_SET_SECCOMP",
    )


# --- Landlock ---------------------------------------------------------------------------------

# The same numbers on every architecture (asm-generic).
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_VERSION_FLAG = 1
_LANDLOCK_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def landlock_abi() -> int:
    """Return the Landlock version of the running kernel, or 0 where there is none."""
    return max(0, int(_libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_VERSION_FLAG)))


def restrict_paths(read_only: list[str], writable: list[str]) -> int:
    """Allow only to read and execute below `read_only`, and to change files below `writable`.

    Device nodes cannot be made anywhere. Paths that do not exist are skipped. The flag for no new
    privileges has to be set before.

    Returns:
        The Landlock version, 0 when the kernel has none.
    """
    abi = landlock_abi()
    if not abi:
        return 0
    handled = (1 << 13) - 1
    for version, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        if abi >= version:
            handled |= right
    attribute = struct.pack("<Q", handled)
    ruleset = _check(
        _libc.syscall(_LANDLOCK_CREATE_RULESET, attribute, len(attribute), 0), "landlock ruleset"
    )
    readable = _EXECUTE | _READ_FILE | _READ_DIR
    everything = handled & ~(_MAKE_CHAR | _MAKE_BLOCK)
    rules = [(path, readable) for path in read_only] + [(path, everything) for path in writable]
    for path, rights in rules:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
        handled_here = handled if is_folder else handled & _FILE_RIGHTS
        rule = struct.pack("<Qi", rights & handled_here, fd)
        added = _libc.syscall(_LANDLOCK_ADD_RULE, ruleset, _LANDLOCK_PATH_BENEATH, rule, 0)
        os.close(fd)
        _check(added, f"landlock rule for {path}")
    _check(_libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0), "landlock")
    os.close(ruleset)
    return abi


def architecture() -> str:
    """Return the machine's architecture as the kernel names it, such as ``x86_64``."""
    return os.uname().machine
