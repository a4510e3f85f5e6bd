"""What a whole program shows: files that it, or what draws for it, leaves in a folder."""

import base64
import json

from llm_sandbox.exceptions import SandboxError
from llm_sandbox.guest.json_limits import MOST_SHOWN, find_excess
from llm_sandbox.kernel.output_buffer import OutputBuffer
from llm_sandbox.sandbox.files import SandboxFiles

__all__ = ["ProgramDisplays"]

_MOST = 1000
_MIMES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".pdf": "application/pdf",
    ".svg": "image/svg+xml",
    ".html": "text/html",
    ".txt": "text/plain",
    ".md": "text/markdown",
}
_TEXT = ("text/", "image/svg")
_BUNDLE = ".bundle.json"
"""Ending of a file that holds a whole bundle: an object of MIME type to text, JSON or base64. Its
key ``metadata`` is no type: it says what is said of displays, such as that HTML is a plot."""


class ProgramDisplays:
    """The folder that a program shows things through, as ``LLM_SANDBOX_DISPLAYS`` names it.

    Args:
        files: The machine's files.
        folder: Its path; it is made by whoever writes the first file.
    """

    def __init__(self, files: SandboxFiles, folder: str) -> None:
        self._files = files
        self.folder = folder

    def take(self, collector: OutputBuffer) -> None:
        """Show what is there, in the order of names. Never raises for what is wrong there."""
        try:
            if not self._files.exists(self.folder):
                return
            entries = sorted(self._files.list(self.folder), key=lambda entry: entry.name)[:_MOST]
        except SandboxError:
            return
        for entry in entries:
            self._show(entry.name, collector)

    def _show(self, name: str, collector: OutputBuffer) -> None:
        try:
            content = self._files.read_bytes(f"{self.folder}/{name}")
        except SandboxError:
            return  # gone, no file, or larger than anything that is shown
        # trust: written inside; types are checked by the collector.
        data = _bundle(name, content)
        metadata = data.pop("metadata", {})
        if not metadata and any(mime.startswith("image/") for mime in data):
            # A picture that is shown is a figure, as in sessions that keep state.
            metadata = {"llm_sandbox": {"kind": "plot"}}
        if data:
            shown = {"data": data, "metadata": metadata if isinstance(metadata, dict) else {}}
            if collector.admits("display_data", len(content)):
                collector.add_message("display_data", shown)


def _bundle(name: str, content: bytes) -> dict[str, object]:
    if name.endswith(_BUNDLE):
        if find_excess(content, largest=len(content), most_values=MOST_SHOWN):
            return {}
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
    mime = _MIMES.get(name[name.rfind(".") :].lower())
    if mime is None:
        return {}
    if mime.startswith(_TEXT):
        return {mime: content.decode("utf-8", "replace")}
    return {mime: base64.b64encode(content).decode()}
