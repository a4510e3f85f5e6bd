"""What a person at a prompt asks the interpreter for: how a word goes on, and what a name is."""

from collections.abc import Sequence
from typing import Any

_MOST_MATCHES = 500
_MOST_TEXT = 100_000


def complete(
    kernel: Any, arguments: dict[str, Any], _: Sequence[memoryview]
) -> tuple[dict[str, Any], list[bytes]]:
    """Answer with what the word at the cursor may become, and where it begins."""
    completer = kernel.shell.Completer
    # Jedi takes longer to load than a person waits, and reads files.
    completer.use_jedi = False
    found = kernel.do_complete(str(arguments["code"]), int(arguments["cursor"]))
    return {"matches": found["matches"][:_MOST_MATCHES], "start": found["cursor_start"]}, []


def inspect(
    kernel: Any, arguments: dict[str, Any], _: Sequence[memoryview]
) -> tuple[dict[str, Any], list[bytes]]:
    """Answer with what is known of a name: type, signature, docstring; its source on demand."""
    name = str(arguments["name"])
    bundle = kernel.shell.object_inspect_mime(name, detail_level=int(arguments["detail"]))
    return {"text": str(bundle.get("text/plain", ""))[:_MOST_TEXT]}, []
