"""`llm-sandbox snapshots`: what sandboxes were saved as, and its removal."""

import json
import time
from typing import TYPE_CHECKING, Annotated

from llm_sandbox.cli.exit_codes import NOT_FOUND, exit_codes, say_error
from llm_sandbox.cli.grammar import Argument, Command, Group, Option
from llm_sandbox.cli.render import say

if TYPE_CHECKING:
    from llm_sandbox.backends.snapshot import Snapshot

__all__ = ["SNAPSHOTS", "delete", "list_snapshots"]

_HEAD = ("NAME", "REF", "KIND", "BACKEND", "AGE", "EXPIRES IN", "SIZE")
_REF_SHOWN = 21


def list_snapshots(
    backend: Annotated[
        str | None,
        Option("--backend", "-b", help="Those of one backend's sandboxes.", metavar="NAME"),
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the snapshots that can be restored from here, newest first."""
    from llm_sandbox.backends.snapshot import Snapshot

    with exit_codes():
        found = Snapshot.list(backend)
    if as_json:
        print(json.dumps([one.to_dict() for one in found], indent=2))
        return
    if not found:
        print("no snapshots")
        return
    rows = [_HEAD, *map(_row, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def delete(
    names: Annotated[
        list[str],
        Argument(help="Names, or refs or how they begin.", metavar="SNAPSHOT..."),
    ],
) -> None:
    """Delete snapshots; sandboxes that were made from them live on."""
    from llm_sandbox.backends.snapshot import Snapshot
    from llm_sandbox.exceptions import SandboxError

    code = 0
    for name in names:
        try:
            found = [one for one in Snapshot.list() if _is_meant(one, name)]
            if len(found) != 1:
                code = NOT_FOUND
                what = f"{len(found)} snapshots are called" if found else "there is no snapshot"
                say(f"{what} {name!r}", "llm-sandbox snapshots list shows their refs")
                continue
            found[0].delete()
            print(f"deleted {found[0].name}")
        except SandboxError as error:
            code = code or 1
            say_error(error)
    raise SystemExit(code)


def _is_meant(snapshot: "Snapshot", word: str) -> bool:
    short = _short(snapshot)
    return word in (snapshot.name, snapshot.ref) or (len(word) > 3 and short.startswith(word))


def _short(snapshot: "Snapshot") -> str:
    return snapshot.ref.removeprefix("sha256:")


def _row(one: "Snapshot") -> tuple[str, ...]:
    now = time.time()
    return (
        one.name,
        _short(one)[:_REF_SHOWN],
        one.kind,
        one.backend,
        _span(now - one.created_at),
        "-" if one.expires_at is None else _span(one.expires_at - now),
        "-" if one.size is None else f"{one.size / (1 << 20):.1f} MiB",
    )


def _span(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"


SNAPSHOTS = Group(
    "snapshots",
    "List and delete what sandboxes were saved as.",
    {
        "list": Command(list_snapshots, "list"),
        "delete": Command(delete, "delete"),
    },
)
