"""`llm-sandbox volumes`: the named folders that outlive sandboxes."""

from typing import Annotated

from llm_sandbox.cli.exit_codes import exit_codes
from llm_sandbox.cli.grammar import Argument, Command, Group

__all__ = ["VOLUMES", "delete", "list_"]


def list_() -> None:
    """Show the volumes: name, bytes, number of files, and the folder of each."""
    with exit_codes():
        from llm_sandbox.mounts import Volume
        from llm_sandbox.mounts.store import VolumeStore

        store = VolumeStore()
        for one in Volume.list():
            entries = one.files.list(recursive=True)
            files = sum(entry.kind == "file" for entry in entries)
            size = sum(entry.size for entry in entries)
            print(f"{one.name}\t{size}\t{files}\t{store.folder(one.name)}")


def delete(
    names: Annotated[list[str], Argument(help="Which, by name.", metavar="NAME...")],
) -> None:
    """Delete volumes with all that is in them; one that a living sandbox has stays."""
    with exit_codes():
        from llm_sandbox.mounts import Volume

        for name in names:
            Volume.delete(name)
            print(f"{name} is deleted")


VOLUMES = Group(
    "volumes",
    "List and delete the volumes of this user: folders that sandboxes share.",
    {
        "list": Command(list_, "list"),
        "delete": Command(delete, "delete"),
    },
)
