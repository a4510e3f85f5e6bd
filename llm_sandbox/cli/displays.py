"""What a program displays, as a terminal or a file gets it."""

import base64
import binascii
import io
import os
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from llm_sandbox.cli.render import StreamWriter, plain_text
from llm_sandbox.results.bundles import TABLE_MIME

if TYPE_CHECKING:
    from llm_sandbox.results.tables import Table

__all__ = ["show_display"]

_LARGEST = 6 << 20
_WIDEST = 200


def show_display(out: StreamWriter, data: Mapping[str, object]) -> None:
    """Write what is to be seen of a display.

    On a terminal a table is drawn, and a picture shown where the terminal can; a file or pipe gets
    the text that the program would print.

    Args:
        out: Where to.
        data: MIME bundle.

    Raises:
        OSError: The stream does not take it.
    """
    if out.is_terminal:
        drawn = _table(data) or _picture(data)
        if drawn:
            out.draw(drawn)
            return
    text = plain_text(data)
    if text is not None:
        out.write(text + "\n")


def _table(data: Mapping[str, object]) -> str:
    if TABLE_MIME not in data:
        return ""
    from llm_sandbox.results.tables import Table

    # trust: a record from inside; its reader takes nothing on faith.
    table = Table.from_record(data[TABLE_MIME])
    return "" if table is None else _draw(table)


def _draw(table: "Table") -> str:
    from rich.console import Console

    from llm_sandbox.views.terminal import draw_table

    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    text = io.StringIO()
    console = Console(file=text, force_terminal=not plain, no_color=plain, width=width)
    console.print(draw_table(table))
    return text.getvalue()


def _picture(data: Mapping[str, object]) -> str:
    from llm_sandbox.views.inline_images import detect_protocol, encode_image

    protocol = detect_protocol()
    if protocol is None:
        return ""
    for mime in ("image/png", "image/jpeg"):
        encoded = data.get(mime)
        if isinstance(encoded, str) and len(encoded) <= _LARGEST:
            try:
                content = base64.b64decode(encoded)
            except (binascii.Error, ValueError):
                continue
            sequence = encode_image(content, protocol)
            if sequence is not None:
                return sequence + "\n"
    return ""
