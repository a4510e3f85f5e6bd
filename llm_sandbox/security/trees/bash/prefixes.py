"""Programs that start the one that their arguments name, such as `timeout` and `xargs`."""

from collections.abc import Sequence

from llm_sandbox.security.trees.bash.programs import PREFIXES

__all__ = ["after_prefix"]


def after_prefix(program: str, argv: Sequence[str | None]) -> list[str | None]:
    """Return the command that a program such as `timeout` starts."""
    takes = PREFIXES[program]
    at, operands = 1, 1 if takes.startswith("*") else 0
    options = takes.lstrip("*").split()
    while at < len(argv):
        word = argv[at]
        if word is None:
            break
        if word == "--":
            at += 1
            break
        if word.startswith("-") and len(word) > 1:
            at += 2 if word in options else 1
        elif "=" in word and program in {"env", "sudo", "command"}:
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return list(argv[at:])
