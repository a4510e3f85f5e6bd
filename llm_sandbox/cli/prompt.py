"""Prompt of the shell: multi-line editing, pasting, completion by the interpreter, and history."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import has_selection
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output.vt100 import Vt100_Output

from llm_sandbox.cli.blocks import indent_after, is_entered
from llm_sandbox.host.terminal import strip_controls

__all__ = ["Complete", "Prompt"]

Complete = Callable[[str, int], tuple[list[str], int]]
"""Callback that takes the text and the cursor's position; returns the completions, and where the
completed word begins.
"""

_LARGEST_HISTORY = 1 << 20
_LONGEST_MATCH = 200


class Prompt:
    """Prompt that reads blocks of code.

    Args:
        lang: Language of the blocks.
        complete: Callback for completions; None for no completion.
        folder: Folder of the history, private to this user.
    """

    def __init__(self, lang: str, complete: Complete | None, folder: Path) -> None:
        self._lang = lang
        self._completion = None if complete is None else _Completion(complete)
        self._session: PromptSession[str] = PromptSession(
            ">>> ",
            multiline=True,
            prompt_continuation="... ",
            history=_history(folder / f"history-{lang}"),
            completer=self._completion,
            complete_while_typing=False,
            enable_history_search=True,
            key_bindings=self._keys(),
            output=_output(),
        )

    def read(self) -> str:
        """Read the next block.

        Raises:
            EOFError: Ctrl-D was pressed.
            KeyboardInterrupt: Ctrl-C was.
        """
        return self._session.prompt() + "\n"

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter", filter=~has_selection)
        def enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            document = buffer.document
            if document.is_cursor_at_the_end and is_entered(buffer.text, self._lang):
                buffer.validate_and_handle()
                return
            # A pasted block comes with its own spaces, and by another key.
            buffer.insert_text("\n" + indent_after(document.text_before_cursor, self._lang))

        @keys.add("tab", filter=~has_selection)
        def tab(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            before = buffer.document.current_line_before_cursor
            if not before.strip():
                buffer.insert_text("    ")
            elif buffer.complete_state:
                buffer.complete_next()
            elif self._completion is not None:
                found = list(self._completion.get_completions(buffer.document, CompleteEvent()))
                if len(found) == 1:
                    # At once, so that what is typed after it comes after it.
                    buffer.apply_completion(found[0])
                else:
                    buffer.start_completion(insert_common_part=True)

        return keys


class _Completion(Completer):
    """Completer of prompt_toolkit that asks the interpreter."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        """Yield the completions at the cursor."""
        cursor = document.cursor_position
        matches, start = self._complete(document.text, cursor)
        # trust: names come from inside, and go to a terminal and into what will be run.
        for match in matches:
            safe = strip_controls(match)
            if safe == match and "\n" not in match and len(match) <= _LONGEST_MATCH:
                yield Completion(match, start_position=min(0, start - cursor))


def _output() -> Vt100_Output:
    output = Vt100_Output.from_pty(sys.stdout, term=os.environ.get("TERM"))
    # Terminals that do not say where their cursor is would be waited for.
    output.enable_cpr = False
    return output


def _history(file: Path) -> History:
    """Return the history, in a file that only this user can read; in memory where there is no such
    file.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            _shorten(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        return InMemoryHistory()
    return FileHistory(file)


def _shorten(descriptor: int) -> None:
    """Remove the older half of a long history."""
    size = os.fstat(descriptor).st_size
    if size <= _LARGEST_HISTORY:
        return
    data = os.pread(descriptor, size, size // 2)
    _, _, kept = data.partition(b"\n\n")
    with contextlib.suppress(OSError):
        os.pwrite(descriptor, kept, 0)
        os.ftruncate(descriptor, len(kept))
