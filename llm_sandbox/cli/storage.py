"""`llm-sandbox secret`, `snapshots` and `volumes`: objects that are stored on this computer."""

import json
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from llm_sandbox.cli.exit_codes import NOT_FOUND, exit_codes, not_found, say_error
from llm_sandbox.cli.grammar import Argument, Command, Group, Option
from llm_sandbox.cli.render import format_age, print_table, say

if TYPE_CHECKING:
    from llm_sandbox.backends.snapshot import Snapshot

__all__ = [
    "SECRET",
    "SNAPSHOTS",
    "VOLUMES",
    "Name",
    "delete_secret",
    "delete_snapshots",
    "delete_volumes",
    "list_secrets",
    "list_snapshots",
    "list_volumes",
    "set_secret",
]

_LARGEST_SECRET = 64 << 10
Name = Annotated[str, Argument(help="Its name: letters, digits and _.", metavar="NAME")]
_SNAPSHOT_HEAD = ("NAME", "REF", "KIND", "BACKEND", "AGE", "EXPIRES IN", "SIZE")
_REF_SHOWN = 21


def set_secret(name: Name) -> None:
    """Store a secret; its value is asked for, or read from standard input.

    A newline at its end is left out.
    """
    with exit_codes():
        from llm_sandbox.secrets import SecretStore
        from llm_sandbox.secrets.names import check_name

        check_name(name)
        store = SecretStore()
        store.set(name, _value(name))
    print(f"{name} is stored in {store.file}")


def _value(name: str) -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass(f"{name}: ")
    data = sys.stdin.buffer.read(_LARGEST_SECRET + 2)
    return data.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")


def list_secrets() -> None:
    """List the names of the stored secrets, and when each was set."""
    with exit_codes():
        from llm_sandbox.secrets import SecretStore

        for one in SecretStore().list():
            changed = datetime.fromtimestamp(one.changed_at, UTC)
            print(f"{one.name}\t{changed:%Y-%m-%d %H:%M:%S}Z")


def delete_secret(name: Name) -> None:
    """Delete a secret."""
    with exit_codes():
        from llm_sandbox.secrets import SecretStore

        store = SecretStore()
        if name not in [one.name for one in store.list()]:
            not_found(f"there is no secret {name}", "llm-sandbox secret list shows their names")
        store.delete(name)
    print(f"{name} is deleted")


SECRET = Group(
    "secret",
    "Keep secrets for sandboxes on this machine, in a file that only you can read.",
    {
        "set": Command(
            set_secret,
            "set",
            epilog="Then: Secret.from_store(NAME). The value is never an argument.",
        ),
        "list": Command(list_secrets, "list"),
        "delete": Command(delete_secret, "delete"),
    },
)


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
    print_table([_SNAPSHOT_HEAD, *map(_snapshot_row, found)])


def delete_snapshots(
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


def _snapshot_row(one: "Snapshot") -> tuple[str, ...]:
    now = time.time()
    return (
        one.name,
        _short(one)[:_REF_SHOWN],
        one.kind,
        one.backend,
        format_age(now - one.created_at),
        "-" if one.expires_at is None else format_age(one.expires_at - now),
        "-" if one.size is None else f"{one.size / (1 << 20):.1f} MiB",
    )


SNAPSHOTS = Group(
    "snapshots",
    "List and delete what sandboxes were saved as.",
    {
        "list": Command(list_snapshots, "list"),
        "delete": Command(delete_snapshots, "delete"),
    },
)


def list_volumes() -> None:
    """List the volumes: name, bytes, number of files, and the folder of each."""
    with exit_codes():
        from llm_sandbox.mounts import Volume
        from llm_sandbox.mounts.store import VolumeStore

        store = VolumeStore()
        for one in Volume.list():
            entries = one.files.list(recursive=True)
            files = sum(entry.kind == "file" for entry in entries)
            size = sum(entry.size for entry in entries)
            print(f"{one.name}\t{size}\t{files}\t{store.folder(one.name)}")


def delete_volumes(
    names: Annotated[list[str], Argument(help="Which, by name.", metavar="NAME...")],
) -> None:
    """Delete volumes with their content; a volume that a living sandbox uses stays."""
    with exit_codes():
        from llm_sandbox.mounts import Volume

        for name in names:
            Volume.delete(name)
            print(f"{name} is deleted")


VOLUMES = Group(
    "volumes",
    "List and delete the volumes of this user: folders that sandboxes share.",
    {
        "list": Command(list_volumes, "list"),
        "delete": Command(delete_volumes, "delete"),
    },
)
