"""`llm-sandbox secret`: the secrets that a user keeps on this machine."""

import sys
from datetime import UTC, datetime
from typing import Annotated

from llm_sandbox.cli.exit_codes import exit_codes, not_found
from llm_sandbox.cli.grammar import Argument, Command, Group

__all__ = ["SECRET", "Name", "delete", "list_", "set_"]

_LARGEST = 64 << 10
Name = Annotated[str, Argument(help="Its name: letters, digits and _.", metavar="NAME")]


def set_(name: Name) -> None:
    """Keep a secret; its value is asked for, or read from standard input.

    A newline at its end is left out.
    """
    with exit_codes():
        from llm_sandbox.secrets import SecretStore
        from llm_sandbox.secrets.names import check_name

        check_name(name)
        store = SecretStore()
        store.set(name, _value(name))
    print(f"{name} is kept in {store.file}")


def _value(name: str) -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass(f"{name}: ")
    data = sys.stdin.buffer.read(_LARGEST + 2)
    return data.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")


def list_() -> None:
    """Show the names of all secrets that are kept, and when each was set."""
    with exit_codes():
        from llm_sandbox.secrets import SecretStore

        for one in SecretStore().list():
            changed = datetime.fromtimestamp(one.changed_at, UTC)
            print(f"{one.name}\t{changed:%Y-%m-%d %H:%M:%S}Z")


def delete(name: Name) -> None:
    """Forget a secret."""
    with exit_codes():
        from llm_sandbox.secrets import SecretStore

        store = SecretStore()
        if name not in [one.name for one in store.list()]:
            not_found(f"there is no secret {name}", "llm-sandbox secret list shows their names")
        store.delete(name)
    print(f"{name} is forgotten")


SECRET = Group(
    "secret",
    "Keep secrets for sandboxes on this machine, in a file that only you can read.",
    {
        "set": Command(
            set_, "set", epilog="Then: Secret.from_store(NAME). The value is never an argument."
        ),
        "list": Command(list_, "list"),
        "delete": Command(delete, "delete"),
    },
)
