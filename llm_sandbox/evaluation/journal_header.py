"""Header of a journal: facts about a run, and whether another run may continue it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from llm_sandbox.exceptions import ValidationError

__all__ = [
    "MUST_AGREE",
    "check_agreement",
    "encode",
    "header_differences",
    "header_line",
    "read_header",
]

MUST_AGREE = ("dataset_sha256", "engine", "limits")
"""Fields of every header; a run is resumed only if those of its journal are the same."""

_FORMAT = "llm-sandbox evaluation"
_VERSION = 1
_BEGINNING = f'{{"format": "{_FORMAT}", "version": '.encode()
_RESERVED = ("format", "version")
_LONGEST_HEADER = 1 << 20
_MOST_DIFFERENCES = 8


def header_line(header: Mapping[str, Any]) -> bytes:
    """Return the first line of a journal.

    Raises:
        ValidationError: A field is missing or reserved, or the header is not JSON or too long.
    """
    missing = [name for name in MUST_AGREE if name not in header]
    if missing:
        raise ValidationError(
            f"invalid header: expected {', '.join(MUST_AGREE)}, got no {', '.join(missing)}",
            parameter="header",
        )
    if taken := [name for name in _RESERVED if name in header]:
        raise ValidationError(
            f"invalid header: expected other names than {' and '.join(_RESERVED)}, got {taken[0]}",
            parameter="header",
        )
    line = encode({"format": _FORMAT, "version": _VERSION, **header}, "header")
    if len(line) >= _LONGEST_HEADER:
        raise ValidationError(
            f"invalid header: expected less than {_LONGEST_HEADER} bytes, got {len(line)}",
            parameter="header",
        )
    return line


def read_header(file: IO[bytes], path: Path) -> Mapping[str, Any] | None:
    """Return the header; None if the file is empty or ends within the header.

    Raises:
        ValidationError: The file is something else.
    """
    line = file.readline(_LONGEST_HEADER)
    if not line.endswith(b"\n") and len(line) < _LONGEST_HEADER:
        # A crash while the journal was begun; any other file stays as it is.
        if line.startswith(_BEGINNING) or _BEGINNING.startswith(line):
            return None
    elif (header := _parse(line)) is not None:
        if header["version"] == _VERSION:
            return {name: value for name, value in header.items() if name not in _RESERVED}
        raise ValidationError(
            f"invalid journal: expected version {_VERSION}, {path} has {header['version']!r:.20}",
            parameter="path",
            hint="read it with the version of llm-sandbox that wrote it, or take another file",
        )
    raise ValidationError(
        f"invalid journal: expected a file of {_FORMAT!r}, {path} is something else",
        parameter="path",
        hint="take another file",
    )


def _parse(line: bytes) -> dict[str, Any] | None:
    if not line.startswith(_BEGINNING):
        return None
    try:
        header: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return header


def check_agreement(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    """Check that a run may continue another one.

    Args:
        before: Header of the journal.
        now: Header of the run.
        path: The journal.

    Raises:
        ValidationError: Fields of `MUST_AGREE` differ.
    """
    found = header_differences(before, now)
    if not found:
        return
    more = len(found) - _MOST_DIFFERENCES
    words = [*found[:_MOST_DIFFERENCES], *([f"{more} more"] if more > 0 else [])]
    raise ValidationError(
        f"invalid resume: expected the run that {path} belongs to, got another: {'; '.join(words)}",
        parameter="resume",
        hint="take another file, run with what was used before, or start over with resume=False, "
        "overwrite=True",
    )


def header_differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what differs of two headers in the fields of `MUST_AGREE`, each as a clause."""
    found = []
    for name in MUST_AGREE:
        old, new = _flat(name, before.get(name)), _flat(name, now.get(name))
        for path in dict.fromkeys((*old, *new)):
            a, b = old.get(path), new.get(path)
            if a != b:
                found.append(f"{path} was {a!r:.80}, is {b!r:.80}")
    return tuple(found)


def _flat(path: str, value: Any) -> dict[str, Any]:
    """Return the leaves of nested objects by their path."""
    if not isinstance(value, Mapping):
        return {path: value}
    leaves: dict[str, Any] = {}
    for name, item in value.items():
        leaves |= _flat(f"{path}.{name}", item)
    return leaves


def encode(data: Mapping[str, Any], what: str) -> bytes:
    """Return JSON in one line of ASCII, which lone surrogates survive.

    Args:
        data: The object.
        what: Its name in errors.

    Raises:
        ValidationError: It is not JSON.
    """
    try:
        return json.dumps(data).encode("ascii") + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise ValidationError(f"invalid {what}: expected JSON: {error}") from None
