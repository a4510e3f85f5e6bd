"""Replies of the host for kernels that can only run code.

Python's kernel is ipykernel, which answers all requests. Kernels of other languages only run code;
the rest of Jupyter's protocol is implemented here.
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from llm_sandbox.const import VERSION
from llm_sandbox.jupyter.languages import NotebookLanguage

__all__ = ["KernelReplies", "NotebookReplies", "RunnerReplies", "unanswerable"]

_NOT_FOUND = re.compile(r"No such file or directory: '([^'\x00-\x1f]{1,255})'")

_PROTOCOL = "5.3"
"""Version of Jupyter's messaging protocol."""

_PYTHON_KINDS = frozenset(
    {
        "comm_close",
        "comm_info_request",
        "comm_msg",
        "comm_open",
        "complete_request",
        "connect_request",
        "debug_request",
        "execute_request",
        "history_request",
        "inspect_request",
        "is_complete_request",
        "kernel_info_request",
    }
)


class KernelReplies:
    """Replies for a kernel that answers all requests itself: Python's."""

    forwards: frozenset[str] = _PYTHON_KINDS
    """Message types that are forwarded to the kernel; others are answered here."""

    def answer(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the content of the reply to a request that is not forwarded."""
        del content
        return unanswerable(kind)

    def begin(self, content: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
        """Prepare a request to run code.

        Args:
            content: Content of the front end's request.

        Returns:
            Content of the request to the kernel; and the execution count that the host publishes,
            None if the kernel publishes it or it is silent.
        """
        return dict(content), None

    def finish(self, asked: Mapping[str, Any], reply: dict[str, Any]) -> dict[str, Any] | None:
        """Complete the reply to a request to run code.

        Args:
            asked: Content of the front end's request.
            reply: Content of the reply, modified in place.

        Returns:
            Content of an error to publish that the kernel has not published; None for none.
        """
        del asked, reply
        return None

    def present(
        self, asked: Mapping[str, Any], kind: str, content: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return the content to publish for a message of the kernel; None to drop it.

        Args:
            asked: Content of the request of the message.
            kind: Message type.
            content: Content of the message.
        """
        del asked, kind
        return content


class NotebookReplies(KernelReplies):
    """Replies for Python's kernel that explain missing files of the notebook's folder.

    Args:
        folder: Folder of the notebook.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def present(
        self, asked: Mapping[str, Any], kind: str, content: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Add a hint about copying a missing file into the sandbox; see `KernelReplies.present`."""
        del asked
        if kind != "error" or content.get("ename") != "FileNotFoundError":
            return content
        name = self._beside(str(content.get("evalue", "")))
        if name is None:
            return content
        words = (
            f"{name} is beside the notebook, and not in the sandbox. A kernel that copies it in at "
            f"each start: llm-sandbox kernelspec install --file {shlex.quote(name)}"
        )
        return {**content, "traceback": [*content.get("traceback", ()), words]}

    def _beside(self, text: str) -> str | None:
        """Return the file of the notebook's folder that an error names; None for none."""
        # trust: what it says is shown to a person, and never sent to the code.
        found = _NOT_FOUND.search(text)
        if found is None:
            return None
        path = PurePosixPath(found[1])
        if path.is_absolute() or ".." in path.parts or not path.parts:
            return None
        try:
            return str(path) if (self._folder / path).is_file() else None
        except (OSError, ValueError):
            return None


class RunnerReplies(KernelReplies):
    """Replies for a kernel that only runs code.

    Cells cannot read input, since it cannot be observed whether another interpreter waits for it;
    standard input is empty.

    Args:
        language: Metadata of the language.
        version: Version of the language; empty if unknown.
    """

    forwards = frozenset({"execute_request"})

    def __init__(self, language: NotebookLanguage, version: str) -> None:
        self._language = language
        self._version = version
        self._count = 0

    def answer(self, kind: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the content of the reply to a request that is not forwarded."""
        if kind == "kernel_info_request":
            return self._describe()
        if kind == "complete_request":
            place = content.get("cursor_pos", len(str(content.get("code", ""))))
            return {
                "status": "ok",
                "matches": [],
                "cursor_start": place,
                "cursor_end": place,
                "metadata": {},
            }
        if kind == "inspect_request":
            return {"status": "ok", "found": False, "data": {}, "metadata": {}}
        if kind == "is_complete_request":
            # Front ends then go by their own rule, which is a blank line.
            return {"status": "unknown"}
        if kind == "history_request":
            return {"status": "ok", "history": []}
        if kind == "comm_info_request":
            return {"status": "ok", "comms": {}}
        return unanswerable(kind)

    def _describe(self) -> dict[str, Any]:
        language = self._language
        version = f" {self._version}" if self._version else ""
        return {
            "status": "ok",
            "protocol_version": _PROTOCOL,
            "implementation": "llm-sandbox",
            "implementation_version": VERSION,
            "language_info": language.info(self._version),
            "banner": f"{language.title}{version} in a sandbox of llm-sandbox {VERSION}",
            "help_links": [],
            "supported_features": [],
        }

    def begin(self, content: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
        """Prepare a request to run code; see `KernelReplies.begin`."""
        silent = bool(content.get("silent", False))
        counts = not silent and bool(content.get("store_history", True))
        self._count += counts
        asked = {**content, "store_history": counts, "allow_stdin": False}
        return asked, None if silent else max(1, self._count)

    def finish(self, asked: Mapping[str, Any], reply: dict[str, Any]) -> dict[str, Any] | None:
        """Complete the reply to a request to run code; see `KernelReplies.finish`."""
        told = reply.get("llm_sandbox", {})
        if reply.get("status") != "error" and not told.get("exit"):
            wanted = asked.get("user_expressions") or {}
            reply["user_expressions"] = {name: unanswerable("user_expressions") for name in wanted}
            return None
        reply["status"] = "error"
        reply.pop("user_expressions", None)
        reply.pop("payload", None)
        if "ename" in reply:
            reply["traceback"] = _lines(reply)
            return None
        # Nothing was thrown: the code ended with a status that says that it failed.
        code = told.get("exit") or told.get("code")
        words = "the cell failed" if code is None else f"exit status {code}"
        error = {"ename": "ExitStatus", "evalue": words, "traceback": [words]}
        reply.update(error)
        return None if asked.get("silent", False) else error

    def present(
        self, asked: Mapping[str, Any], kind: str, content: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return the content to publish; see `KernelReplies.present`."""
        if asked.get("silent", False) and kind != "status":
            return None
        return {**content, "traceback": _lines(content)} if kind == "error" else content


def _lines(error: Mapping[str, Any]) -> list[str]:
    """Return the traceback of an error, the only part that many front ends show."""
    return list(error["traceback"]) or [f"{error['ename']}: {error['evalue']}"]


def unanswerable(kind: str) -> dict[str, Any]:
    """Return the content of a reply to an unsupported request."""
    words = f"kernels in sandboxes do not answer {kind}"
    return {"status": "error", "ename": "UnsupportedError", "evalue": words, "traceback": [words]}
