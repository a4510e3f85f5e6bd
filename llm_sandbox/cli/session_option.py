"""`--session`: the option of what can go on with a session that is kept."""

from typing import Annotated

from llm_sandbox.cli.grammar import Option

__all__ = ["SessionOption"]

SessionOption = Annotated[
    str | None,
    Option(
        "--session",
        help="Run in the session of this name, with the variables and files that it has; made if "
        "there is none. It ends when it was unused for 24 hours, or by `stop NAME`.",
        metavar="NAME",
    ),
]
