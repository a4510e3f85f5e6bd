"""Users by name, as the image's own files have them."""

from __future__ import annotations


def find_user(wanted: str) -> tuple[int, int]:
    """User and group number for ``user[:group]``, each a number or a name.

    Without a group it is the user's own, and 0 for a number that the image does not know.

    Raises:
        LookupError: The image has no such user or group.
    """
    name, _, group = wanted.partition(":")
    entry = _entry("/etc/passwd", name)
    if entry is None and not name.isdecimal():
        raise LookupError(f"the image has no user {name!r}")
    user = int(entry[2]) if entry is not None else int(name)
    if not group:
        return user, int(entry[3]) if entry is not None else 0
    if group.isdecimal():
        return user, int(group)
    found = _entry("/etc/group", group)
    if found is None:
        raise LookupError(f"the image has no group {group!r}")
    return user, int(found[2])


def _entry(path: str, name: str) -> list[str] | None:
    """The line of a name, or of a number, split at its colons."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                fields = line.rstrip("\n").split(":")
                if len(fields) > 3 and name in (fields[0], fields[2]) and fields[2].isdecimal():
                    return fields
    except OSError:
        pass
    return None
