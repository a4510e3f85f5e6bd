"""`llm-sandbox secret`: the secrets that a user keeps on this machine."""

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from llm_sandbox.cli.endings import exit_codes

__all__ = ["Name", "delete", "list_", "secret", "set_"]

_LARGEST = 64 << 10

secret = typer.Typer(
    name="secret",
    help="Keep secrets for sandboxes on this machine, in a file that only you can read.",
    no_args_is_help=True,
)
Name = Annotated[
    str, typer.Argument(help="Its name: letters, digits and _.", metavar="NAME", show_default=False)
]


@secret.command(name="set", epilog="Then: Secret.from_store(NAME). The value is never an argument.")
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


@secret.command(name="list")
def list_() -> None:
    """Show the names of all secrets that are kept, and when each was set."""
    with exit_codes():
        from llm_sandbox.secrets import SecretStore

        for one in SecretStore().list():
            changed = datetime.fromtimestamp(one.changed_at, UTC)
            print(f"{one.name}\t{changed:%Y-%m-%d %H:%M:%S}Z")


@secret.command()
def delete(name: Name) -> None:
    """Forget a secret."""
    with exit_codes():
        from llm_sandbox.secrets import SecretStore

        SecretStore().delete(name)
    print(f"{name} is forgotten")
