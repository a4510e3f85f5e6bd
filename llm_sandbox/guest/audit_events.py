"""Table of reported audit events: the capability that each means, and its subject.

The interpreter's events (PEP 578) are mapped to the scanner's capabilities. Events that are noise,
such as imports, compilation and reads of ordinary files, are not listed.
"""

import contextlib
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

MAX_OBSERVATIONS = 200
"""Different observations of one run."""
MAX_SUBJECT = 200
"""Characters of a subject."""
_WORDS = 40
_ADDRESSES = frozenset({"169.254.169.254", "fd00:ec2::254", "metadata.google.internal"})

Subject = Callable[[Sequence[Any]], str]


def to_text(value: Any, *, nested: bool = False) -> str:
    """Return the text of an event's argument.

    No method of the object's own class is called, except for a path's conversion, which the
    interpreter calls as well.
    """
    kind = type(value)
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, bytes):
        return bytes.__getitem__(value, slice(4 * MAX_SUBJECT)).decode("utf-8", "backslashreplace")
    if issubclass(kind, int):
        return int.__repr__(value)
    if value is None:
        return ""
    for plain in (list, tuple):
        if issubclass(kind, plain) and not nested:
            words = plain.__getitem__(value, slice(_WORDS))
            return " ".join(to_text(word, nested=True) for word in words)
    if hasattr(kind, "__fspath__"):
        with contextlib.suppress(Exception):
            return to_text(os.fspath(value), nested=True)
    return f"<{kind.__name__}>"


def _first(args: Sequence[Any]) -> str:
    return to_text(args[0])


def _second(args: Sequence[Any]) -> str:
    return to_text(args[1])


def _nothing(args: Sequence[Any]) -> str:
    return ""


def _program(args: Sequence[Any]) -> str:
    # The command line; empty where the program has its name alone.
    return to_text(args[1]) or to_text(args[0])


def _spawned(args: Sequence[Any]) -> str:
    return to_text(args[2]) or to_text(args[1])


def _signal(args: Sequence[Any]) -> str:
    return f"signal {to_text(args[1])} to {to_text(args[0])}"


def _address(address: Any) -> str:
    if issubclass(type(address), tuple) and len(address) > 1:
        host = to_text(address[0])
        port = to_text(address[1])
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return to_text(address)


def _peer(args: Sequence[Any]) -> str:
    return _address(args[1])


def _host(args: Sequence[Any]) -> str:
    return _address(tuple(args[:2]))


def _client(args: Sequence[Any]) -> str:
    return _address(tuple(args[1:3]))


def _dotted(args: Sequence[Any]) -> str:
    return f"{to_text(args[0])}.{to_text(args[1])}"


EVENTS: dict[str, tuple[str, Subject]] = {
    "subprocess.Popen": ("process.run", _program),
    "os.system": ("process.run", _first),
    "os.exec": ("process.run", _program),
    "os.posix_spawn": ("process.run", _program),
    "os.spawn": ("process.run", _spawned),
    "os.startfile": ("process.run", _first),
    "pty.spawn": ("process.run", _first),
    "webbrowser.open": ("process.run", _first),
    "os.fork": ("process.fork", _nothing),
    "os.forkpty": ("process.fork", _nothing),
    "os.kill": ("process.signal", _signal),
    "os.killpg": ("process.signal", _signal),
    "signal.pthread_kill": ("process.signal", _signal),
    "socket.connect": ("network.socket", _peer),
    "socket.bind": ("network.socket", _peer),
    "socket.sendto": ("network.socket", _peer),
    "socket.sendmsg": ("network.socket", _peer),
    "socket.getaddrinfo": ("network.socket", _host),
    "socket.gethostbyname": ("network.socket", _first),
    "socket.gethostbyaddr": ("network.socket", _first),
    "urllib.Request": ("network.web", _first),
    "http.client.connect": ("network.web", _client),
    "ftplib.connect": ("network.transfer", _client),
    "smtplib.connect": ("network.transfer", _client),
    "imaplib.open": ("network.transfer", _client),
    "poplib.connect": ("network.transfer", _client),
    "nntplib.connect": ("network.transfer", _client),
    "telnetlib.Telnet.open": ("network.transfer", _client),
    "ctypes.dlopen": ("native", _first),
    "ctypes.dlsym": ("native", _second),
    "ctypes.dlsym/handle": ("native", _second),
    # Their arguments are addresses, which differ every time.
    "ctypes.call_function": ("native", _nothing),
    "ctypes.cdata": ("native", _nothing),
    "ctypes.cdata/buffer": ("native", _nothing),
    "ctypes.string_at": ("native", _nothing),
    "ctypes.wstring_at": ("native", _nothing),
    "ctypes.memoryview_at": ("native", _nothing),
    "ctypes.PyObj_FromPtr": ("native", _nothing),
    "sqlite3.enable_load_extension": ("native", _nothing),
    "sqlite3.load_extension": ("native", _second),
    "pickle.find_class": ("deserialise", _dotted),
    "gc.get_objects": ("introspection", _nothing),
    "gc.get_referrers": ("introspection", _nothing),
    "gc.get_referents": ("introspection", _nothing),
}
"""Events that are reported everywhere: the capability, and the subject among the arguments."""

FILE_EVENTS: dict[str, tuple[str, int, int | None]] = {
    "open": ("file.write", 0, None),
    "os.truncate": ("file.write", 0, None),
    "os.rename": ("file.write", 1, 3),
    "os.link": ("file.write", 1, 3),
    "os.symlink": ("file.write", 1, 2),
    "sqlite3.connect": ("file.write", 0, None),
    "os.remove": ("file.delete", 0, 1),
    "os.rmdir": ("file.delete", 0, 1),
    "shutil.rmtree": ("file.delete", 0, 1),
    "os.chmod": ("file.permission", 0, 2),
    "os.chown": ("file.permission", 0, 3),
}
"""Events that are reported outside of the working directory: the capability, and the indices of
the arguments with the path and the directory that it is relative to."""

SENSITIVE = re.compile(
    r"^/etc/(?:shadow|gshadow|sudoers)(?:$|[-/.])"
    r"|^/proc/(?:[^/]+/(?:task/[^/]+/)?(?:environ|mem)|kcore)$"
    r"|^(?:/var)?/run/secrets/"
    r"|/\.(?:ssh|gnupg|aws|azure|kube)/"
    r"|/\.config/gcloud/|/\.docker/config\.json$"
    r"|/\.(?:netrc|pgpass|git-credentials|npmrc|pypirc)$"
)
"""Absolute paths of secrets of a machine or of a person."""

_MEANINGS = {name: {entry[0]} for table in (EVENTS, FILE_EVENTS) for name, entry in table.items()}
_MEANINGS["open"].add("file.sensitive")
for _meanings in _MEANINGS.values():
    if _meanings <= {"network.socket", "network.web"}:
        _meanings.add("network.metadata")


def is_possible(event: str, capability: str) -> bool:
    """Return whether an event can mean a capability."""
    return capability in _MEANINGS.get(event, ())


def refine(capability: str, subject: str) -> str:
    """Return the capability, made more specific by the subject."""
    network = capability in ("network.socket", "network.web")
    if network and any(address in subject for address in _ADDRESSES):
        return "network.metadata"
    return capability
