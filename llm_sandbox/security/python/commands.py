"""Commands that programs start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.python.folding import text_of
from llm_sandbox.security.python.name_tables import names
from llm_sandbox.security.python.values import (
    Alternatives,
    Args,
    Const,
    Items,
    Keywords,
    PathValue,
    Ref,
    Value,
)

if TYPE_CHECKING:
    from llm_sandbox.security.python.interpreter import Interpreter

__all__ = ["command_of", "is_shell", "report_shell", "shortened"]

_LONGEST_DETAIL = 120


def shortened(text: str) -> str:
    """Return a text for use within a sentence."""
    return repr(text if len(text) <= _LONGEST_DETAIL else text[:_LONGEST_DETAIL] + "..")


def command_of(m: Interpreter, args: Args, keywords: Keywords) -> str:
    """Return the words of the command that a call starts; empty when none is known."""
    given = args[0] if args else keywords.get("args", keywords.get("cmd", keywords.get("command")))
    value = m.force(given)
    if isinstance(value, Alternatives):
        value = value.of[0]
    words = (
        value.items
        if isinstance(value, Items)
        else args
        if text_of(value) and len(args) > 1
        else [value]
    )
    texts = [_word(m.force(word)) for word in words[:50]]
    return " ".join(texts) if any(text != "?" for text in texts) else ""


def _word(value: Value | None) -> str:
    if isinstance(value, PathValue) and value.path:
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


def is_shell(m: Interpreter, name: str, keywords: Keywords) -> bool:
    """Return whether a call hands its command to a shell."""
    if name in _SHELLS or name.endswith("_shell"):
        return True
    shell = keywords.get("shell")
    return isinstance(shell, Const) and bool(shell.value)


def report_shell(m: Interpreter, command: str, node: Any, subject: str) -> None:
    """Record what a shell command does."""
    from llm_sandbox.security.languages import engine_of
    from llm_sandbox.security.source import Source

    if command not in m.commands:
        m.commands[command] = engine_of("bash")(Source(command, "bash")).findings
    for raw in m.commands[command]:
        if raw.capability is not Capability.PROCESS_RUN:
            m.add(raw, node, (subject,))
