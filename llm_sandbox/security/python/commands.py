"""Commands that programs start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python.folding import text_of
from llm_sandbox.security.python.values import (
    Args,
    Choice,
    Const,
    Items,
    Keywords,
    Place,
    Ref,
    Value,
)
from llm_sandbox.security.python.words import names

if TYPE_CHECKING:
    from llm_sandbox.security.python.machine import Machine

__all__ = ["command_of", "is_shell", "see_shell", "shortened"]

_LONGEST_DETAIL = 120


def shortened(text: str) -> str:
    """Return a text for use within a sentence."""
    return repr(text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + "..")


def command_of(m: Machine, args: Args, keywords: Keywords) -> str:
    """Return the words of the command that a call starts; empty when none is known."""
    given = args[0] if args else keywords.get("args", keywords.get("cmd", keywords.get("command")))
    value = m.settle(given)
    if isinstance(value, Choice):
        value = value.of[0]
    words = (
        value.items
        if isinstance(value, Items)
        else args
        if text_of(value) and len(args) > 1
        else [value]
    )
    texts = [_word(m.settle(word)) for word in words[:50]]
    return " ".join(texts) if any(text != "?" for text in texts) else ""


def _word(value: Value | None) -> str:
    if isinstance(value, Place) and value.path:
        return value.path
    if isinstance(value, Ref) and value.name == "sys.executable":
        return "python"
    text = text_of(value)
    return text if text is not None else "?"


_SHELLS = frozenset(
    names(
        """
        os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput
        platform.popen asyncio.create_subprocess_shell IPython.shell().system
        IPython.shell().getoutput IPython.shell().system_piped IPython.shell().system_raw
        IPython.utils.process.system IPython.utils.process.getoutput
        """
    )
)


def is_shell(m: Machine, name: str, keywords: Keywords) -> bool:
    """Return whether a call hands its command to a shell."""
    if name in _SHELLS or name.endswith("_shell"):
        return True
    shell = keywords.get("shell")
    return isinstance(shell, Const) and bool(shell.value)


def see_shell(m: Machine, command: str, node: Any, subject: str) -> None:
    """Record what a shell command does."""
    from llm_sandbox.security.languages import engine_of
    from llm_sandbox.security.source import Source

    if command not in m.commands:
        m.commands[command] = engine_of("bash")(Source(command, "bash")).seen
    for sighting in m.commands[command]:
        if sighting.capability is not Capability.PROCESS_RUN:
            m.add(sighting, node, (subject,))
