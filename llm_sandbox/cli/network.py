"""`--network`: the option of every command that makes a sandbox."""

from enum import StrEnum
from typing import Annotated

from llm_sandbox.cli.grammar import Option

__all__ = ["Network", "NetworkOption"]


class Network(StrEnum):
    """What the sandbox has of the network."""

    BLOCKED = "blocked"
    INTERNET = "internet"
    OPEN = "open"


NetworkOption = Annotated[
    Network,
    Option(
        "--network",
        help="`internet` is what is public, `open` shares the network of this machine.",
    ),
]
