"""Diffs in Git's format, computed without Git, which would obey the repository's configuration and
start programs.
"""

import hashlib

from llm_sandbox.workspace.hunks import hunks
from llm_sandbox.workspace.manifest import Entry

__all__ = ["diff_of"]

_MODES = {"file": "100644", "link": "120000", "other": "000000"}
_ZERO = "0" * 40
_LOOKS = 8000
"""Number of first bytes in which Git looks for a NUL to detect binary content."""


def diff_of(before: Entry | None, after: Entry | None) -> str:
    """Return the diff from one entry to another; None stands for a missing one.

    A change of kind, such as a file that became a link, is a deletion and a creation.
    """
    if before is not None and after is not None and before.kind != after.kind:
        return diff_of(before, None) + diff_of(None, after)
    old, new = before or after, after or before
    if old is None or new is None or "other" in (old.kind, new.kind):
        # Git has no word for pipes, sockets and devices.
        return ""
    lines = [f"diff --git {_quoted('a/' + old.path)} {_quoted('b/' + new.path)}"]
    if before is None:
        lines.append(f"new file mode {_mode(new)}")
    elif after is None:
        lines.append(f"deleted file mode {_mode(old)}")
    elif _mode(old) != _mode(new):
        lines += [f"old mode {_mode(old)}", f"new mode {_mode(new)}"]
    if old.path != new.path:
        lines += [
            "similarity index 100%",
            f"rename from {_quoted(old.path)}",
            f"rename to {_quoted(new.path)}",
        ]
    head = "\n".join(lines) + "\n"
    if before is not None and after is not None and before.digest == after.digest:
        return head
    return head + _content(before, after, old.path, new.path)


def _content(before: Entry | None, after: Entry | None, old: str, new: str) -> str:
    # Where nothing is, its content is known: there is none.
    first = b"" if before is None else before.content
    second = b"" if after is None else after.content
    text = ""
    if first is not None and second is not None:
        ids = [_ZERO if entry is None else _blob(entry) for entry in (before, after)]
        same = before is not None and after is not None and _mode(before) == _mode(after)
        text = f"index {ids[0]}..{ids[1]}{' ' + _mode(after) if same and after else ''}\n"
        if first == second:
            return text  # an empty file that came or went
    left = "/dev/null" if before is None else _quoted("a/" + old)
    right = "/dev/null" if after is None else _quoted("b/" + new)
    if first is None or second is None or _is_binary(first) or _is_binary(second):
        return f"{text}Binary files {left} and {right} differ\n"
    return f"{text}--- {_ended(left)}\n+++ {_ended(right)}\n{hunks(first, second)}"


def _mode(entry: Entry) -> str:
    return "100755" if entry.executable and entry.kind == "file" else _MODES[entry.kind]


def _blob(entry: Entry) -> str:
    content = entry.content or b""
    # What Git calls the same content by, so that tools which know the file find it.
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _is_binary(content: bytes) -> bool:
    return b"\0" in content[:_LOOKS]


def _quoted(path: str) -> str:
    """Return a path as Git writes it: in quotes where it holds anything but printable ASCII."""
    raw = path.encode("utf-8", "surrogateescape")
    if all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in raw):
        return path
    return '"' + "".join(_escaped(byte) for byte in raw) + '"'


def _escaped(byte: int) -> str:
    if byte in b'"\\':
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _ended(name: str) -> str:
    # A name with spaces would not end before a time that some tools write after it.
    return f"{name}\t" if " " in name and not name.startswith('"') else name
